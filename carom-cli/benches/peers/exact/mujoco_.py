"""MuJoCo 4.0.0"""

from common import *
import mujoco


class Eng(Base):
    has_restitution = True  # through solref<0 (stiffness,damping): see solref below

    def build(s):
        o = s.opt
        dflt = o.get("default", False)
        fmt = lambda a: " ".join(repr(float(x)) for x in a)

        def geom(b):
            r = ""
            for t, p, lp, lq in b["shapes"]:
                size = {
                    "sphere": lambda: fmt(p),
                    "box": lambda: fmt(p),
                    "cylinder": lambda: fmt(p),
                    "capsule": lambda: fmt(p),
                    "plane": lambda: "0 0 1",
                }[t]()
                e = b["e"]
                extra = ""
                if o.get("solref"):
                    extra += f' solref="{o["solref"]}"'
                if e > 0 or o.get("k"):  # direct format: -k -b ; damping ratio for restitution e
                    k = o.get("kb", 1e6)
                    l = -math.log(e) if e > 0 else 1.0
                    z = l / math.hypot(math.pi, l) if e > 0 else 1.0
                    extra = f' solref="{-k} {-2*z*math.sqrt(k)}"'
                if o.get("solimp"):
                    extra += f' solimp="{o["solimp"]}"'
                r += f'<geom type="{t}" size="{size}" pos="{fmt(lp)}" quat="{fmt(lq)}" friction="{b["mu"]} 0 0" condim="{1 if b["mu"]==0 else 3}" {extra}/>'
            return r

        kids = {}
        for j in s.joints:
            kids[j["b"]] = j

        def node(i):
            b = s.bodies[i]
            j = kids.get(i)
            par = s.bodies[j["a"]] if j and j["a"] is not None else None
            pos = np.array(b["pos"]) - (np.array(par["pos"]) if par else 0)
            if b["static"]:
                jt = inert = ""
            else:
                inert = f'<inertial pos="0 0 0" mass="{b["m"]}" diaginertia="{fmt(b["J"])}"/>'
                jt = (
                    "<freejoint/>"
                    if not j
                    else f'<joint type="{"hinge" if j["kind"]=="rev" else "slide"}" pos="{fmt(j["anchor"]-np.array(b["pos"]))}" axis="{fmt(j["axis"])}"/>'
                )
            ch = "".join(node(k) for k, jj in kids.items() if jj["a"] == i)
            return f'<body name="b{i}" pos="{fmt(pos)}" quat="{fmt(b["q"])}">{inert}{jt}{geom(b)}{ch}</body>'

        tree = "".join(node(i) for i in range(len(s.bodies)) if not (i in kids and kids[i]["a"] is not None))
        ex = (
            ""
            if dflt
            else f'integrator="{o.get("integ","implicitfast")}" cone="elliptic" impratio="{o.get("impratio",100)}" tolerance="1e-14" iterations="200" ls_tolerance="1e-6" noslip_iterations="{o.get("noslip",0)}" noslip_tolerance="1e-14" jacobian="dense"'
        )
        fl = (
            ""
            if dflt
            else f'<flag diagexact="{o.get("diagexact","disable")}" {"refsafe=" + chr(34) + "disable" + chr(34) if o.get("norefsafe") else ""}/>'
        )
        s.xml = f'<mujoco><option timestep="{s.h}" gravity="{fmt(s.g)}" {ex}>{fl}</option><worldbody>{tree}</worldbody></mujoco>'
        s.m = mujoco.MjModel.from_xml_string(s.xml)
        s.d = mujoco.MjData(s.m)
        s.id = [s.m.body(f"b{i}").id for i in range(len(s.bodies))]
        for i, b in enumerate(s.bodies):
            if not b["static"] and i not in kids:
                a = s.m.body_dofadr[s.id[i]]
                s.d.qvel[a : a + 3] = b["v"]
                s.d.qvel[a + 3 : a + 6] = q2R(b["q"]).T @ np.array(b["w"])
        mujoco.mj_forward(s.m, s.d)
        s.hasF = True

    def step(s):
        if s.hasF:
            for i, b in enumerate(s.bodies):
                s.d.xfrc_applied[s.id[i], :3] = b["F"]
            s.hasF = any(b["F"].any() for b in s.bodies) and False
        mujoco.mj_step(s.m, s.d)
        s.t = s.d.time

    def state(s, i):
        k = s.id[i]
        a = s.m.body_dofadr[k]
        n = s.m.body_dofnum[k]
        if n == 6:
            qa = s.m.jnt_qposadr[s.m.body_jntadr[k]]
            q = s.d.qpos[qa + 3 : qa + 7].copy()
            return s.d.qpos[qa : qa + 3].copy(), q, s.d.qvel[a : a + 3].copy(), q2R(q) @ s.d.qvel[a + 3 : a + 6]
        mujoco.mj_kinematics(s.m, s.d)
        mujoco.mj_comPos(s.m, s.d)
        mujoco.mj_comVel(s.m, s.d)
        r = np.zeros(6)
        mujoco.mj_objectVelocity(s.m, s.d, mujoco.mjtObj.mjOBJ_BODY, k, r, 0)
        return s.d.xpos[k].copy(), s.d.xquat[k].copy(), r[3:].copy(), r[:3].copy()

    def force(s, i, F):
        s.bodies[i]["F"] = np.array(F, float)
        s.hasF = True

    def ground_force(s):
        f, r = 0.0, np.zeros(6)
        for c in range(s.d.ncon):
            g = s.d.contact[c].geom
            if 0 in (s.m.geom_bodyid[g[0]] - 1, s.m.geom_bodyid[g[1]] - 1):
                mujoco.mj_contactForce(s.m, s.d, c, r)
                f += r[0]
        return f


cfgs = dict(
    default=dict(default=True),
    best=dict(h=1e-4, solref="0.002 1", solimp=".99 .9999 .0001", noslip=20, impratio=10, diagexact="enable"),
    rk4=dict(integ="RK4"),
    bounce=dict(h=1e-4, kb=1e5, solimp=".9999 .9999 .001", integ="Euler"),
)
if __name__ == "__main__":
    main(Eng, cfgs)
