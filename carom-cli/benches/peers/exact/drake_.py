"""Drake 1.51.1: discrete (lagged/sap/similar/tamsi) or continuous with error-controlled cenic / runge_kutta3"""

from common import *
from pydrake.all import *


class Eng(Base):
    has_restitution = (
        False  # point contact: no restitution parameter; hunt_crossley dissipation d ~ (1-e^2)/... velocity dependent
    )

    def __init__(s, **k):
        super().__init__(**k)
        s.has_restitution = k.get("hc") == 0.0  # only e = 1, by zero dissipation

    def build(s):
        o = s.opt
        bd = DiagramBuilder()
        cont = o.get("cont")
        cfg = MultibodyPlantConfig(time_step=0.0 if cont else s.h)
        cfg.contact_model = "point" if o.get("point", True) else "hydroelastic_with_fallback"
        if o.get("dca"):
            cfg.discrete_contact_approximation = o["dca"]
        if "stic" in o:
            cfg.stiction_tolerance = o["stic"]
        if "nrt" in o:
            cfg.sap_near_rigid_threshold = o["nrt"]
        pl, sg = AddMultibodyPlant(cfg, bd)
        s.pl = pl
        pl.mutable_gravity_field().set_gravity_vector(np.array(s.g, float))
        s.B = []
        for i, b in enumerate(s.bodies):
            if b["static"]:
                body = pl.world_body()
                X0 = RigidTransform(Quaternion(b["q"]), b["pos"])
            else:
                J = b["J"]
                m = b["m"]
                M = SpatialInertia(
                    m, [0, 0, 0], UnitInertia(*[x / m if m else 0 for x in J]), skip_validity_check=o.get("skip", False)
                )
                body = pl.AddRigidBody(f"b{i}", M)
                X0 = RigidTransform()
            s.B.append(body)
            if (
                o.get("corners") and len(b["shapes"]) == 1 and b["shapes"][0][0] == "box" and not b["static"]
            ):  # Drake's usual trick: spheres at the corners
                r = o["corners"]
                a = b["shapes"][0][1]
                b = dict(
                    b,
                    shapes=[
                        ("sphere", (r,), (sx * (a[0] - r), sy * (a[1] - r), sz * (a[2] - r)), I4)
                        for sx in (-1, 1)
                        for sy in (-1, 1)
                        for sz in (-1, 1)
                    ],
                )
            for n, (t, a, lp, lq) in enumerate(b["shapes"]):
                sh = dict(
                    sphere=lambda: Sphere(a[0]),
                    box=lambda: Box(2 * a[0], 2 * a[1], 2 * a[2]),
                    plane=lambda: HalfSpace(),
                    cylinder=lambda: Cylinder(a[0], 2 * a[1]),
                    capsule=lambda: Capsule(a[0], 2 * a[1]),
                )[t]()
                pr = ProximityProperties()
                AddContactMaterial(
                    dissipation=o.get("hc", None),
                    point_stiffness=o.get("k", None),
                    friction=CoulombFriction(b["mu"], b["mu"]),
                    properties=pr,
                )
                if "tau" in o:
                    pr.AddProperty("material", "relaxation_time", o["tau"])
                if o.get("hydro"):
                    if t == "plane" or b["static"]:
                        AddRigidHydroelasticProperties(0.05, pr)
                    else:
                        AddCompliantHydroelasticProperties(o.get("res", 0.05), o["hydro"], pr)
                X = X0 @ RigidTransform(Quaternion(np.array(lq) / np.linalg.norm(lq)), lp)
                pl.RegisterCollisionGeometry(body, X, sh, f"g{i}_{n}", pr)
        kids = {}
        for n, j in enumerate(s.joints):
            kids[j["b"]] = j
            fa = pl.world_frame() if j["a"] is None else s.B[j["a"]].body_frame()
            pa = j["anchor"] - (0 if j["a"] is None else np.array(s.bodies[j["a"]]["pos"]))
            pb = j["anchor"] - np.array(s.bodies[j["b"]]["pos"])
            FA = pl.AddFrame(FixedOffsetFrame(f"fa{n}", fa, RigidTransform(pa)))
            FB = pl.AddFrame(FixedOffsetFrame(f"fb{n}", s.B[j["b"]].body_frame(), RigidTransform(pb)))
            pl.AddJoint((RevoluteJoint if j["kind"] == "rev" else PrismaticJoint)(f"j{n}", FA, FB, j["axis"]))
        if o.get("hook"):
            o["hook"](s, pl)
        pl.Finalize()
        s.dia = bd.Build()
        s.sim = Simulator(s.dia)
        ctx = s.sim.get_mutable_context()
        s.c = pl.GetMyMutableContextFromRoot(ctx)
        s.ctx = ctx
        if cont:
            ApplySimulatorConfig(
                SimulatorConfig(
                    integration_scheme=cont,
                    max_step_size=o.get("maxh", s.h),
                    accuracy=o.get("acc", 1e-6),
                    use_error_control=o.get("ec", True),
                ),
                s.sim,
            )
        for i, b in enumerate(s.bodies):
            if not b["static"] and i not in kids:
                pl.SetFreeBodyPose(s.c, s.B[i], RigidTransform(Quaternion(b["q"]), b["pos"]))
                pl.SetFreeBodySpatialVelocity(s.c, s.B[i], SpatialVelocity(b["w"], b["v"]))
        s.sim.Initialize()
        s.n = 0

    def force(s, i, F):
        f = ExternallyAppliedSpatialForce()
        f.body_index = s.B[i].index()
        f.p_BoBq_B = np.zeros(3)
        f.F_Bq_W = SpatialForce([0, 0, 0], F)
        s.pl.get_applied_spatial_force_input_port().FixValue(s.c, [f])

    def step(s):
        s.n += 1
        s.t = s.n * s.h
        s.sim.AdvanceTo(s.t)

    def state(s, i):
        X = s.pl.EvalBodyPoseInWorld(s.c, s.B[i])
        V = s.pl.EvalBodySpatialVelocityInWorld(s.c, s.B[i])
        return (
            X.translation().copy(),
            X.rotation().ToQuaternion().wxyz(),
            V.translational().copy(),
            V.rotational().copy(),
        )

    def ground_force(s):
        cr = s.pl.get_contact_results_output_port().Eval(s.c)
        f = 0.0
        w = s.pl.world_body().index()
        for k in range(cr.num_point_pair_contacts()):
            c = cr.point_pair_contact_info(k)
            if w in (c.bodyA_index(), c.bodyB_index()):
                f += abs(c.contact_force()[2])
        for k in range(cr.num_hydroelastic_contacts()):
            c = cr.hydroelastic_contact_info(k)
            f += abs(c.F_Ac_W().translational()[2]) * (c.contact_surface().id_M() is not None)
        return f


cfgs = dict(
    default=dict(point=False),
    cenic=dict(cont="cenic", corners=1e-3, k=1e7, hc=10.0, stic=1e-6, acc=1e-6),
    hydro=dict(point=False, dca="lagged", hydro=1e8, hc=10.0, stic=1e-6),
    tamsi=dict(dca="tamsi", corners=1e-3, k=1e7, hc=10.0, stic=1e-6),
    bounce=dict(cont="cenic", k=1e6, hc=0.0, acc=1e-8),
    rk=dict(cont="runge_kutta5", acc=1e-12),
    cenichydro=dict(cont="cenic", point=False, hydro=1e8, hc=10.0, stic=1e-6, acc=1e-5),
)
if __name__ == "__main__":
    import logging

    logging.getLogger("drake").setLevel(logging.ERROR)
    main(Eng, cfgs)
