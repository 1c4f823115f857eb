"""Scenes and measurements shared by all engine files. An engine file gives a class Eng(Base) and calls main(Eng, configs)."""

import sys, json, time, math, hashlib, traceback
import numpy as np

G = 9.81


def q2R(q):
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    s = 2 / n
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )


def qy(a):
    return (math.cos(a / 2), 0.0, math.sin(a / 2), 0.0)  # rotation about y


I4 = (1.0, 0.0, 0.0, 0.0)


def Jsphere(m, R):
    return (0.4 * m * R * R,) * 3


def Jbox(m, a, b, c):
    return (m * (b * b + c * c) / 3, m * (a * a + c * c) / 3, m * (a * a + b * b) / 3)


class Base:
    """deferred scene: bodies, joints; subclasses implement build(), step(), state(i)->(p,q wxyz,v,w world), ground_force()"""

    reduced = False

    def __init__(s, h=1e-3, g=(0, 0, -G), **opt):
        s.h, s.g, s.opt, s.bodies, s.joints, s.t = h, g, opt, [], [], 0.0

    def body(s, shapes, m, pos, J=None, q=I4, v=(0, 0, 0), w=(0, 0, 0), mu=0.0, e=0.0, static=False):
        if not isinstance(shapes, list):
            shapes = [shapes] if shapes else []
        shapes = [
            (t, tuple(p), tuple(lp[0]) if lp else (0.0, 0.0, 0.0), tuple(lp[1]) if len(lp) > 1 else I4)
            for t, p, *lp in shapes
        ]
        if J is None and not static:
            t, p = shapes[0][:2]
            J = Jsphere(m, p[0]) if t == "sphere" else Jbox(m, *p)
        s.bodies.append(
            dict(
                shapes=shapes,
                m=m,
                pos=tuple(map(float, pos)),
                J=J,
                q=q,
                v=tuple(map(float, v)),
                w=tuple(map(float, w)),
                mu=mu,
                e=e,
                static=static,
                F=np.zeros(3),
            )
        )
        return len(s.bodies) - 1

    def plane(s, mu=0.0, e=0.0):
        return s.body(("plane", ()), 0, (0, 0, 0), mu=mu, e=e, static=True)

    def joint(s, kind, a, b, anchor, axis):
        s.joints.append(dict(kind=kind, a=a, b=b, anchor=np.array(anchor, float), axis=np.array(axis, float)))

    def force(s, i, F):
        s.bodies[i]["F"] = np.array(F, float)  # constant force, applied each step

    def energy(s, i):
        b = s.bodies[i]
        p, q, v, w = s.state(i)
        wb = q2R(q).T @ w
        return 0.5 * b["m"] * np.dot(v, v) + 0.5 * np.dot(np.array(b["J"]) * wb, wb) - b["m"] * np.dot(s.g, p)

    def ground_force(s):
        return float("nan")


S = {}


def scene(f):
    S[f.__name__] = f
    return f


R0 = 0.1


@scene
def s1(E, o, h=1e-3, es=(0, 0.25, 0.5, 0.75, 0.9, 1.0)):
    out = {}
    for e in es:
        s = E(h=h, **o)
        if e > 0 and not s.has_restitution:
            out[str(e)] = "n/a"
            continue
        s.plane(0, e)
        b = s.body(("sphere", (R0,)), 1.0, (0, 0, R0 + 1), mu=0, e=e)
        s.build()
        apex, cur, vz0, n, pen = [], -1.0, 0.0, 0, 0.0
        nmax = int((40 if e < 1 else 12) / h)
        t0 = time.process_time()
        for k in range(nmax):
            try:
                s.step()
            except RuntimeError:
                break
            p, q, v, w = s.state(b)
            z = p[2] - R0
            pen = min(pen, z)
            if vz0 < -1e-9 and v[2] > 1e-9:
                n += 1
                if n > 1:
                    apex.append(cur)
                cur = z
            cur = max(cur, z)
            vz0 = v[2]
            if len(apex) >= 10:
                break
            if e == 0 and k * h > 1.5:
                break
        if n and len(apex) < 10:
            apex.append(cur)
        a = np.array(apex)
        out[str(e)] = dict(
            r1=float(a[0]) if len(a) else 0.0,
            r10=float(a[9]) if len(a) > 9 else f"only {n} bounces",
            exact=[e**2, e**20],
            pen=float(pen),
            cpu_per_sim_s=(time.process_time() - t0) / s.t,
        )
    return out


@scene
def s1drift(E, o, h=1e-3, nb=int(__import__("os").environ.get("NB", 1000)), tmax=120):
    s = E(h=h, **o)
    if not s.has_restitution:
        return "n/a"
    s.plane(0, 1.0)
    b = s.body(("sphere", (R0,)), 1.0, (0, 0, R0 + 1), mu=0, e=1.0)
    s.build()
    n, vz0, cur, apex, t0 = 0, 0.0, 0.0, [], time.process_time()
    while n < nb + 1 and time.process_time() - t0 < tmax and s.t < 1300:
        s.step()
        p, q, v, w = s.state(b)
        if vz0 < -1e-9 and v[2] > 1e-9:
            n += 1
            apex.append(cur)
            cur = -1
        cur = max(cur, p[2] - R0)
        vz0 = v[2]
    return dict(
        bounces=n,
        E_ratio=float(apex[-1]) if n > 1 else None,
        Emin=float(min(apex)) if n else None,
        Emax=float(max(apex)) if n else None,
        sim_s=s.t,
        cpu_per_sim_s=(time.process_time() - t0) / s.t,
    )


@scene
def s2(E, o, h=1e-3):
    out = {}
    t0 = time.process_time()
    for f in (0.9, 0.99):
        th = f * math.atan(0.5)
        s = E(h=h, g=(G * math.sin(th), 0, -G * math.cos(th)), **o)
        s.plane(0.5)
        b = s.body(("box", (0.1, 0.1, 0.1)), 1.0, (0, 0, 0.1), mu=0.5)
        s.build()
        while s.t < 1:
            s.step()
        x1 = s.state(b)[0]
        t1 = s.t
        while s.t < 5:
            s.step()
        x2 = s.state(b)[0]
        out[f"incline{f}"] = float((x2[0] - x1[0]) / (s.t - t1))
        out[f"pos{f}"] = [float(x) for x in x2]
    out["cpu_per_sim_s"] = (time.process_time() - t0) / 10
    return out


@scene
def s2pad(E, o, h=1e-3):
    s = E(h=h, **o)
    N = 20 * G / (2 * 0.5)
    s.body(("box", (0.05, 0.2, 0.2)), 0, (-0.15, 0, 0), mu=0.5, static=True)
    b = s.body(("box", (0.1, 0.1, 0.1)), 1.0, (0, 0, 0), mu=0.5)
    p = s.body(("box", (0.05, 0.2, 0.2)), 1.0, (0.15, 0, 0), mu=0.5)
    s.joint("slide", None, p, (0.15, 0, 0), (1, 0, 0))
    s.build()
    s.force(p, (-N, 0, 0))
    t0 = time.process_time()
    while s.t < 1:
        s.step()
    x1 = s.state(b)[0].copy()
    t1 = s.t
    while s.t < 5:
        s.step()
    x2, q2 = s.state(b)[:2]
    return dict(
        creep=float((x1[2] - x2[2]) / (s.t - t1)),
        z=float(x2[2]),
        tilt=float(2 * np.linalg.norm(q2[1:])),
        x=float(x2[0]),
        cpu_per_sim_s=(time.process_time() - t0) / s.t,
    )


@scene
def s3(E, o, h=1e-3):
    s = E(h=h, **o)
    s.plane(0.5)
    b = s.body(("box", (0.1, 0.1, 0.1)), 1.0, (0, 0, 0.1), v=(6, 0, 0), mu=0.5)
    s.build()
    lift, pen, eerr, ts = -1.0, 0.0, 0.0, None
    cs = np.array([[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    d0, T0, hs = 36 / G, 6 / (0.5 * G), hashlib.md5()
    t0 = time.process_time()
    while s.t < 2:
        s.step()
        p, q, v, w = s.state(b)
        z = (cs @ q2R(q).T + p)[:, 2]
        lift = max(lift, z.max())
        pen = min(pen, z.min())
        hs.update(np.array(p, float).tobytes())
        ve = max(0.0, 6 - 0.5 * G * s.t)
        eerr = max(eerr, abs(s.energy(b) - G * 0.1 - 0.5 * ve * ve) / 18)
        if ts is None and v[0] < 6e-3:
            ts = s.t
    return dict(
        d=float(p[0]),
        d_err=float(p[0] - d0),
        t=ts,
        t_err=(ts - T0 * (1 - 1e-3)) if ts else None,
        lift=float(lift),
        pen=float(pen),
        Eerr=float(eerr),
        hash=hs.hexdigest()[:8],
        cpu_per_sim_s=(time.process_time() - t0) / 2,
        yaw=float(2 * q[3]),
        y=float(p[1]),
    )


@scene
def s4(E, o, h=1e-3):
    s = E(h=h, **o)
    s.plane(0.5)
    b = s.body(("sphere", (R0,)), 1.0, (0, 0, R0), v=(6, 0, 0), mu=0.5)
    s.build()
    ts = None
    t0 = time.process_time()
    while s.t < 2:
        s.step()
        p, q, v, w = s.state(b)
        if ts is None and v[0] - w[1] * R0 < 6e-3:
            ts = s.t
            v1 = v[0]
    return dict(
        v_end=float(v[0]),
        v_err=float(v[0] - 30 / 7),
        t=ts,
        t_err=ts - 12 / (7 * 0.5 * G) * (1 - 1e-3) if ts else None,
        v_at_t=float(v1) if ts else None,
        cpu_per_sim_s=(time.process_time() - t0) / s.t,
    )


@scene
def s5(E, o, h=1e-2, T=100.0):
    J = np.array([1.0, 2.0, 3.0])
    s = E(h=h, g=(0, 0, 0), **o)
    b = s.body(("sphere", (0.05,)), 1.0, (0, 0, 0), J=(1.0, 2.0, 3.0), w=(1e-3, 1, 0))
    s.build()

    def EL():
        p, q, v, w = s.state(b)
        R = q2R(q)
        wb = R.T @ w
        return 0.5 * np.dot(J * wb, wb), R @ (J * wb), wb

    E0, L0, wb = EL()
    eE = eL = 0.0
    y0, tz = wb[1], []
    t0 = time.process_time()
    while s.t < T - 1e-9:
        s.step()
        e, L, wb = EL()
        eE = max(eE, abs(e / E0 - 1))
        eL = max(eL, np.linalg.norm(L - L0) / np.linalg.norm(L0))
        if y0 * wb[1] < 0:
            tz.append(s.t - s.h * abs(wb[1]) / (abs(wb[1]) + abs(y0)))
        y0 = wb[1]
    iv = np.diff(tz)
    return dict(
        dE=float(eE),
        dL=float(eL),
        flips=[round(float(t), 5) for t in tz],
        interval=[float(x) for x in iv],
        err=float(iv.mean() - 28.7314244372) if len(iv) else None,
        cpu_per_sim_s=(time.process_time() - t0) / T,
    )


@scene
def s6(E, o, h=1e-3, T=10.0):
    s = E(h=h, **o)
    a = s.body([], 1.0, (0.5, 0, 0), J=Jbox(1.0, 0.5, 0.02, 0.02))
    b = s.body([], 1.0, (1.5, 0, 0), J=Jbox(1.0, 0.5, 0.02, 0.02))
    s.joint("rev", None, a, (0, 0, 0), (0, 1, 0))
    s.joint("rev", a, b, (1, 0, 0), (0, 1, 0))
    s.build()
    E0 = s.energy(a) + s.energy(b)
    sep = eE = out = 0.0
    t0 = time.process_time()
    while s.t < T - 1e-9:
        s.step()
        pa, qa = s.state(a)[:2]
        pb, qb = s.state(b)[:2]
        Ra, Rb = q2R(qa), q2R(qb)
        e = np.array([0.5, 0, 0])
        sep = max(sep, np.linalg.norm(pa - Ra @ e), np.linalg.norm(pa + Ra @ e - (pb - Rb @ e)))
        eE = max(eE, abs(s.energy(a) + s.energy(b) - E0) / (2 * G))
        out = max(out, abs(pb[1]))
    return dict(
        sep=float(sep),
        dE=float(eE),
        Eend=float((s.energy(a) + s.energy(b) - E0) / (2 * G)),
        x_end=[float(x) for x in pb],
        offplane=float(out),
        cpu_per_sim_s=(time.process_time() - t0) / T,
    )


@scene
def s7(E, o, h=1e-3):
    out = {}
    for M in (1.0, 100.0):
        s = E(h=h, **o)
        s.plane(0.5)
        B = [s.body(("box", (0.1, 0.1, 0.1)), M if i == 9 else 1.0, (0, 0, 0.1 + 0.2 * i), mu=0.5) for i in range(10)]
        s.build()
        t0 = time.process_time()
        F = []
        pk = 0
        while s.t < 5:
            s.step()
            if s.t > 4:
                F.append(s.ground_force())
            if int(s.t / s.h) % 20 == 0:
                P = np.array([s.state(i)[0] for i in B])
                gap = np.diff(np.concatenate([[-0.1], P[:, 2]])) - 0.2
                pk = max(pk, -gap.min())
        P = np.array([s.state(i)[0] for i in B])
        gap = np.diff(np.concatenate([[-0.1], P[:, 2]])) - 0.2
        W = (9 + M) * G
        F = np.array(F)
        out[f"1:{int(M)}"] = dict(
            pen_end=float(-gap.min()),
            pen_peak=float(pk),
            drift=float(np.abs(P[:, :2]).max()),
            top_dz=float(P[9, 2] - 1.9),
            Fmean_err=float(F.mean() / W - 1),
            Fstd=float(F.std() / W),
            cpu_per_sim_s=(time.process_time() - t0) / 5,
        )
    return out


@scene
def s8(E, o, h=1e-3):
    s = E(h=h, g=(0, 0, 0), **o)
    if not s.has_restitution:
        return "n/a"
    B = [
        s.body(
            ("sphere", (R0,)),
            1.0,
            (-0.25, 0, 0) if i == 0 else (0.2 * i, 0, 0),
            v=(1, 0, 0) if i == 0 else (0, 0, 0),
            e=1.0,
        )
        for i in range(5)
    ]
    s.build()
    while s.t < 0.3:
        s.step()
    v = [float(s.state(i)[2][0]) for i in B]
    return dict(v=[round(x, 4) for x in v], P=sum(v), E=sum(x * x for x in v))


@scene
def s9(E, o, h=1e-3, N=32, T=2.0):
    """rod 1 m 1 kg, pin (radius 10 mm) at its left end in a fixed ring of N boxes (inscribed radius 10.5 mm), axis y, released horizontal"""
    s = E(h=h, **o)
    r, c, t, W = 0.010, 0.0005, 0.01, 0.02
    a = 2 * math.pi / N
    wd = (r + c + 2 * t) * math.tan(a / 2)
    ring = [
        ("box", (t, W, wd), ((r + c + t) * math.cos(i * a), 0, -(r + c + t) * math.sin(i * a)), qy(i * a))
        for i in range(N)
    ]
    s.body(ring, 0, (0, 0, 0), mu=0.1, e=0, static=True)
    qx = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)  # cylinder axis z -> y
    b = s.body(
        [(s.opt.get("pin", "cylinder"), (r, W * 0.8), (-0.5, 0, 0), qx)],
        1.0,
        (0.5, 0, 0),
        J=Jbox(1.0, 0.5, 0.02, 0.02),
        mu=0.1,
    )
    s.build()
    pen = -1
    yaw = 0
    t0 = time.process_time()
    while s.t < T:
        s.step()
        p, q = s.state(b)[:2]
        R = q2R(q)
        d = p + R @ np.array([-0.5, 0, 0])
        pen = max(pen, math.hypot(d[0], d[2]) - c)
        yaw = max(yaw, abs(R[1, 0]))
    return dict(
        pen_max=pen,
        pen_over_play=pen / c,
        yaw=float(yaw),
        x_end=[float(x) for x in p],
        cpu_per_sim_s=(time.process_time() - t0) / T,
    )


@scene
def s10(E, o, h=1e-4):
    """Painleve: rod half-length 1, 60 deg, mu = 2 > 1.347 critical; tip sphere r=1 mm slides at 5 m/s, leading into the ground"""
    out = {}
    for mu in (1.0, 2.0):
        s = E(h=h, **o)
        s.plane(mu)
        th = math.radians(60)
        r = 0.01
        # tip at local x=-1; the tip is ahead (+x motion): rod goes up and back
        b = s.body(
            [("sphere", (r,), (1.0, 0, 0))],
            1.0,
            (-math.cos(th), 0, math.sin(th) + r),
            J=(1e-2, 1 / 3, 1 / 3),
            q=qy(th),
            v=(5, 0, 0),
            mu=mu,
        )
        s.build()
        E0 = s.energy(b)
        Em = E0
        zmax = zmin = 0
        vt1 = None
        while s.t < 0.3:
            s.step()
            p, q, v, w = s.state(b)
            R = q2R(q)
            tip = p + R @ np.array([1.0, 0, 0])
            vt = v + np.cross(w, R @ np.array([1.0, 0, 0]))
            Em = max(Em, s.energy(b))
            if not np.isfinite(p).all():
                break
            if vt1 is None and s.t > 0.0015:
                vt1 = [float(x) for x in vt]
            if s.t < 0.05:
                zmax = max(zmax, tip[2] - r)
                zmin = min(zmin, tip[2] - r)
        out[f"mu{mu}"] = dict(
            finite=bool(np.isfinite(p).all()),
            tipvel_1ms=vt1,
            Emax_over_E0=float(Em / E0),
            tip_zmax_50ms=float(zmax),
            tip_pen_50ms=float(zmin),
            E_end=float(s.energy(b) / E0),
        )
    return out


@scene
def s10bad(E, o, h=1e-3):
    out = {}

    def run(name, f):
        try:
            s = E(h=h, **o)
            b = f(s)
            s.build()
            for _ in range(500):
                s.step()
            p, q, v, w = s.state(b)
            out[name] = "ran, p=%s v=%s w=%s" % (
                np.round(np.array(p, float), 4).tolist(),
                np.round(np.array(v, float), 4).tolist(),
                np.round(np.array(w, float), 3).tolist(),
            )
        except BaseException as ex:
            out[name] = "error %s: %s" % (type(ex).__name__, str(ex).strip()[:160])

    def nan(s):
        s.plane(0.5)
        return s.body(("sphere", (R0,)), float("nan"), (0, 0, 0.2), J=(1, 1, 1), mu=0.5)

    def zeroJ(s):
        s.plane(0.5)
        return s.body(("box", (0.1, 0.1, 0.1)), 1.0, (0, 0, 0.15), J=(0, 0, 0), q=qy(0.3), mu=0.5)

    def over(s):
        s.plane(0.5)
        s.body(("sphere", (R0,)), 1.0, (0, 0, R0), mu=0.5)
        return s.body(("sphere", (R0,)), 1.0, (0, 0, 2 * R0), mu=0.5)

    def negm(s):
        s.plane(0.5)
        return s.body(("sphere", (R0,)), -1.0, (0, 0, 0.2), J=(1, 1, 1), mu=0.5)

    def nanv(s):
        s.plane(0.5)
        return s.body(("sphere", (R0,)), 1.0, (0, 0, 0.2), v=(float("nan"), 0, 0), mu=0.5)

    import os

    for n, f in dict(nan_mass=nan, zero_inertia=zeroJ, overlap=over, neg_mass=negm, nan_vel=nanv).items():
        if sys.argv[-1] == "badone:" + n or not sys.argv[-1].startswith("badone"):
            if sys.argv[-1].startswith("badone"):
                run(n, f)
            else:
                import subprocess

                cp = subprocess.run(
                    [sys.executable, sys.argv[0], o.get("_cfg", "") or CFG, "s10bad", "badone:" + n],
                    capture_output=True,
                    text=True,
                    timeout=90,
                )
                last = [l for l in cp.stdout.splitlines() if l.startswith("{")]
                out[n] = (
                    json.loads(last[-1])["r"].get(n) if last else f"CRASH rc={cp.returncode} {cp.stderr.strip()[-200:]}"
                )
    return out


CFG = ""


def main(E, cfgs):
    global CFG
    a = sys.argv[1:]
    names = a[0].split(",") if a and a[0] != "all" else list(cfgs)
    sc = a[1].split(",") if len(a) > 1 and a[1] != "all" else list(S)
    for c in names:
        CFG = c
        for n in sc:
            o = dict(cfgs[c])
            hh = o.pop("h", None)
            kw = {}
            if hh and n not in ("s5", "s6", "s10"):
                kw["h"] = hh
            t0 = time.time()
            try:
                r = S[n](E, o, **kw)
            except BaseException as ex:
                if isinstance(ex, KeyboardInterrupt):
                    raise
                r = "FAIL " + traceback.format_exc()[-600:]
            print(json.dumps(dict(cfg=c, s=n, wall=round(time.time() - t0, 2), r=r)), flush=True)
