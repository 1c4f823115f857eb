"""Rapier 0.36.1 (Python bindings, 32-bit floats)"""

from common import *
import rapier3d as r


class Eng(Base):
    has_restitution = True

    def build(s):
        o = s.opt
        s.W = W = r.PhysicsWorld(gravity=tuple(s.g))
        ip = W.integration_parameters
        ip.dt = s.h
        if not o.get("default"):
            ip.num_solver_iterations = o.get("it", 32)
            ip.num_internal_pgs_iterations = o.get("pgs", 4)
            ip.num_internal_stabilization_iterations = o.get("stab", 4)
            ip.normalized_allowed_linear_error = o.get("ale", 1e-5)
            ip.normalized_prediction_distance = o.get("pred", 0.002)
            ip.friction_in_bias_pass = o.get("fib", False)
            if "fm" in o:
                ip.friction_model = getattr(r.FrictionModel, o["fm"])
            if "cs" in o:
                ip.contact_softness = ip.static_contact_softness = r.SpringCoefficients(*o["cs"])
        s.H = []

        def col(b, t, a, lp, lq):
            c = dict(
                sphere=lambda: r.Collider.ball(a[0]),
                box=lambda: r.Collider.cuboid(*a),
                plane=lambda: r.Collider.halfspace((0, 0, 1)),
                cylinder=lambda: r.Collider.cylinder(a[1], a[0]),
                capsule=lambda: r.Collider.capsule_y(a[1], a[0]),
            )[t]()
            if t in ("cylinder", "capsule"):
                lq = I4  # rapier cylinders stand along y already
            return (
                c.density(0.0)
                .friction(b["mu"])
                .restitution(b["e"])
                .position(
                    r.Isometry3(translation=lp, rotation=r.Rotation3(*lq) if lq != I4 else r.Rotation3.identity())
                )
                if lq != I4 or any(lp)
                else c.density(0.0).friction(b["mu"]).restitution(b["e"])
            )

        for b in s.bodies:
            bd = r.RigidBody.fixed() if b["static"] else r.RigidBody.dynamic()
            bd = bd.translation(b["pos"]).linvel(b["v"]).angvel(b["w"])
            if b["q"] != I4:
                n = np.linalg.norm(b["q"][1:])
                a = 2 * math.atan2(n, b["q"][0])
                bd = bd.rotation(tuple(np.array(b["q"][1:]) / n * a))
            if not b["static"]:
                bd = (
                    bd.additional_mass_properties(r.MassProperties((0, 0, 0), b["m"], tuple(b["J"])))
                    .can_sleep(o.get("sleep", False))
                    .gyroscopic_forces(o.get("gyro", True))
                )
            s.H.append(W.add_body(bd, [col(b, *x) for x in b["shapes"]]))
        wb = None
        for j in s.joints:
            if j["a"] is None:
                if wb is None:
                    wb = W.add_body(r.RigidBody.fixed())
                pa, ha = j["anchor"], wb
            else:
                pa, ha = j["anchor"] - np.array(s.bodies[j["a"]]["pos"]), s.H[j["a"]]
            pb = j["anchor"] - np.array(s.bodies[j["b"]]["pos"])
            ax = tuple(j["axis"])
            J = (
                (r.RevoluteJoint if j["kind"] == "rev" else r.PrismaticJoint)
                .builder(ax)
                .local_anchor1(tuple(pa))
                .local_anchor2(tuple(pb))
                .build()
            )
            if o.get("rope"):
                J = r.RopeJoint.builder(o["rope"]).local_anchor1(tuple(pa)).local_anchor2(tuple(pb)).build()
            (W.multibody_joints if o.get("mbj", True) else W.impulse_joints).insert(ha, s.H[j["b"]], J, True)
        s.B = [W.rigid_bodies[h] for h in s.H]
        s.hasF = False

    def force(s, i, F):
        s.bodies[i]["F"] = np.array(F, float)
        s.B[i].add_force(tuple(F), True)

    def step(s):
        s.W.step()
        s.t += s.h

    def state(s, i):
        b = s.B[i]
        t, l, w = b.translation, b.linvel, b.angvel
        q = b.rotation.quaternion if hasattr(b.rotation, "quaternion") else b.rotation
        return np.array([t.x, t.y, t.z]), np.array(s.quat(q)), np.array([l.x, l.y, l.z]), np.array([w.x, w.y, w.z])

    def quat(s, q):
        if callable(q):
            q = q()
        return (q.w, q.x, q.y, q.z) if hasattr(q, "w") else (q[3], q[0], q[1], q[2])

    def ground_force(s):
        f = 0.0
        g = {c for c in s.B[0].colliders}
        for cp in s.W.narrow_phase.contact_pairs():
            if cp.collider1 in g or cp.collider2 in g:
                ti = cp.total_impulse
                ti = ti() if callable(ti) else ti
                f += abs(ti.z) / s.h
        return f


cfgs = dict(
    default=dict(default=True),
    best=dict(it=4, pgs=20, stab=4, cs=(1000.0, 1.0), mbj=False),
    fine=dict(h=1e-4, default=True),
)
if __name__ == "__main__":
    main(Eng, cfgs)
