"""Exudyn 1.13.6: penalty contact objects (sphere-quad, sphere-sphere), generalized-alpha or explicit integrators, index-2/3 joints"""

from common import *
import exudyn as exu
from exudyn.utilities import RigidBodyInertia
import exudyn.graphics

exu.config.suppressWarnings = True
HZ = dict(
    s1=14.0,
    s1drift=100.0,
    s2=5.01,
    s2pad=5.01,
    s3=2.01,
    s4=2.01,
    s5=100.01,
    s6=10.01,
    s7=5.01,
    s8=0.31,
    s9=2.01,
    s10=0.31,
    run=0.51,
)


class Eng(Base):
    has_restitution = True

    def build(s):
        o = s.opt
        sc = sys._getframe(1).f_code.co_name
        T = HZ.get(sc, 5.0)
        SC = exu.SystemContainer()
        s.SC = SC
        mbs = SC.AddSystem()
        s.mbs = mbs
        s.O = []
        gnd = None
        s.forces = {}
        for b in s.bodies:
            if b["static"]:
                s.O.append(mbs.CreateGround(referencePosition=list(b["pos"])))
            else:
                s.O.append(
                    mbs.CreateRigidBody(
                        referencePosition=list(b["pos"]),
                        referenceRotationMatrix=q2R(b["q"]),
                        initialVelocity=list(b["v"]),
                        initialAngularVelocity=list(b["w"]),
                        inertia=RigidBodyInertia(mass=b["m"], inertiaTensor=np.diag(b["J"])),
                        gravity=list(s.g),
                        nodeType=o.get("node", exu.NodeType.RotationEulerParameters),
                    )
                )
        for j in s.joints:
            if j["a"] is None:
                if gnd is None:
                    gnd = mbs.CreateGround()
                A = gnd
            else:
                A = s.O[j["a"]]
            (mbs.CreateRevoluteJoint if j["kind"] == "rev" else mbs.CreatePrismaticJoint)(
                itemNumbers=[A, s.O[j["b"]]], position=list(j["anchor"]), axis=list(j["axis"])
            )
        k, rc = o.get("k", 1e7), 1e-3
        s.con = []

        def cp(a, b):
            e = max(a["e"], b["e"])
            mu = max(a["mu"], b["mu"])
            d = dict(contactStiffness=k, dynamicFriction=mu, frictionProportionalZone=o.get("fz", 1e-3))
            if e > 0 and e < 1:
                d.update(restitutionCoefficient=e, impactModel=o.get("im", 2), minimumImpactVelocity=1e-4)
            elif e == 1:
                d.update(impactModel=0, contactDamping=0.0)
            else:
                d.update(impactModel=0, contactDamping=o.get("c", 2 * math.sqrt(k) * o.get("zeta", 1.0)))
            return d

        def quad(c, ax, sg, a, hb):  # face of box centre c half a, axis ax, outward sign sg, in coordinates of the body
            u, v = [(1, 2), (2, 0), (0, 1)][ax]
            pts = []
            for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                p = np.zeros(3)
                p[ax] = sg * a[ax]
                p[u] = su * a[u]
                p[v] = sv * a[v]
                pts.append(p)
            return pts if sg > 0 else pts[::-1]

        n = len(s.bodies)
        for i in range(n):
            for j in range(n):
                A, B = s.bodies[i], s.bodies[j]
                if i == j or not A["shapes"] or not B["shapes"] or (A["static"] and B["static"]):
                    continue
                (ta, pa, la, _), (tb, pb, lb, _) = A["shapes"][0], B["shapes"][0]
                d = cp(A, B)
                PL = [np.array(p, float) for p in ((-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0))]
                if ta == "sphere" and tb == "plane":
                    s.con.append(
                        mbs.CreateSphereQuadContact(
                            itemNumbers=[s.O[i], s.O[j]],
                            localPosition0=list(la),
                            sphereRadius=pa[0],
                            quadPoints=PL,
                            includeEdges=0,
                            **d,
                        )
                    )
                elif ta == tb == "sphere" and i < j:
                    s.con.append(
                        mbs.CreateSphereSphereContact(itemNumbers=[s.O[i], s.O[j]], spheresRadii=[pa[0], pb[0]], **d)
                    )
                elif ta == "box" and tb == "plane":
                    if abs(A["pos"][2] - pa[2]) > 0.05:
                        continue
                    for sx in (-1, 1):
                        for sy in (-1, 1):
                            s.con.append(
                                mbs.CreateSphereQuadContact(
                                    itemNumbers=[s.O[i], s.O[j]],
                                    localPosition0=[sx * (pa[0] - rc), sy * (pa[1] - rc), -(pa[2] - rc)],
                                    sphereRadius=rc,
                                    quadPoints=PL,
                                    includeEdges=0,
                                    **d,
                                )
                            )
                elif ta == tb == "box":
                    D = np.array(A["pos"]) - np.array(B["pos"])
                    for ax in range(3):
                        if abs(abs(D[ax]) - pa[ax] - pb[ax]) < 1e-6:
                            u, v = [(1, 2), (2, 0), (0, 1)][ax]
                            big = pb[u] * pb[v] - pa[u] * pa[v]
                            if big < 0 or (big == 0 and i < j):
                                continue  # corners of the smaller (or of the later) body
                            sg = int(np.sign(D[ax]))
                            for su in (-1, 1):
                                for sv in (-1, 1):
                                    lp = np.zeros(3)
                                    lp[ax] = -sg * (pa[ax] - rc)
                                    lp[u] = su * (pa[u] - rc)
                                    lp[v] = sv * (pa[v] - rc)
                                    s.con.append(
                                        mbs.CreateSphereQuadContact(
                                            itemNumbers=[s.O[i], s.O[j]],
                                            localPosition0=list(lp),
                                            sphereRadius=rc,
                                            quadPoints=quad(None, ax, sg, pb, None),
                                            includeEdges=0,
                                            **d,
                                        )
                                    )
        if sc == "s9":  # pin in hole: sphere in hollow sphere (exact primitive)
            mbs.CreateSphereSphereContact(
                itemNumbers=[s.O[1], s.O[0]],
                localPosition0=[-0.5, 0, 0],
                spheresRadii=[0.010, 0.0105],
                isHollowSphere1=True,
                **cp(s.bodies[0], s.bodies[1]),
            )
        s.T = T
        s.ready = False
        s.rec = []
        s.n = 0

    def force(s, i, F):
        s.mbs.CreateForce(itemNumber=s.O[i], loadVector=list(map(float, F)))

    def run(s):
        mbs, o = s.mbs, s.opt
        mbs.Assemble()
        ss = exu.SimulationSettings()
        ti = ss.timeIntegration
        ti.endTime = s.T
        ti.numberOfSteps = int(round(s.T / s.h))
        ti.verboseMode = 0
        ti.stepInformation = 0
        ss.solutionSettings.writeSolutionToFile = False
        ss.displayStatistics = False
        ss.displayComputationTime = False
        dyn = [i for i, b in enumerate(s.bodies) if not b["static"]]
        OV = exu.OutputVariableType
        ti.generalizedAlpha.spectralRadius = o.get("rho", 0.9)
        ti.newton.useModifiedNewton = o.get("modn", False)
        if "reltol" in o:
            ti.newton.relativeTolerance = o["reltol"]
        if o.get("index2"):
            ti.generalizedAlpha.useIndex2Constraints = True
        if o.get("trap"):
            ti.generalizedAlpha.useNewmark = True
            ti.generalizedAlpha.useIndex2Constraints = True
        ti.discontinuous.maxIterations = o.get("disc", 5)
        ti.adaptiveStep = o.get("adaptive", True)
        ti.discontinuous.useRecommendedStepSize = o.get("rec", True)
        if "dtol" in o:
            ti.discontinuous.iterationTolerance = o["dtol"]
        ti.minimumStepSize = 1e-10
        last = [-1]

        def get():
            r = {}
            for i in dyn:
                g = lambda v: np.array(mbs.GetObjectOutputBody(s.O[i], v, [0, 0, 0]))
                R = g(OV.RotationMatrix).reshape(3, 3)
                r[i] = (g(OV.Position), R, g(OV.Velocity), g(OV.AngularVelocity))
            return r

        s.times = [0.0]
        s.rec = [get()]
        s.gf = [0.0]
        gcon = []

        def post(m, t):
            if t >= len(s.rec) * s.h - 1e-9 * max(1, t):
                s.rec.append(get())
                s.times.append(t)
            return True

        mbs.SetPostStepUserFunction(post)
        kw = dict(solverType=o["solver"]) if "solver" in o else {}
        if "solver" in o:
            ti.automaticStepSize = o.get("auto", False)
            ti.relativeTolerance = o.get("rtol", 1e-10)
            ti.absoluteTolerance = o.get("rtol", 1e-10)
            ti.initialStepSize = s.h
        s.ok = mbs.SolveDynamic(ss, **kw)
        s.ready = True

    def step(s):
        if not s.ready:
            s.run()
        s.n += 1
        if s.n >= len(s.rec):
            raise RuntimeError(f"solver stopped at t={s.times[-1]} (success={s.ok})")
        s.t = s.n * s.h

    def state(s, i):
        if not s.ready:
            if not s.rec:
                b = s.bodies[i]
                return np.array(b["pos"]), np.array(b["q"]), np.array(b["v"]), np.array(b["w"])
        p, R, v, w = s.rec[s.n][i]
        return p, R2q(R), v, w


def R2q(R):
    q = np.array(
        [
            1 + R[0, 0] + R[1, 1] + R[2, 2],
            1 + R[0, 0] - R[1, 1] - R[2, 2],
            1 - R[0, 0] + R[1, 1] - R[2, 2],
            1 - R[0, 0] - R[1, 1] + R[2, 2],
        ]
    )
    k = int(q.argmax())
    a = math.sqrt(max(q[k], 1e-30)) / 2
    f = 1 / (4 * a)
    return np.array(
        [
            (a, (R[2, 1] - R[1, 2]) * f, (R[0, 2] - R[2, 0]) * f, (R[1, 0] - R[0, 1]) * f),
            ((R[2, 1] - R[1, 2]) * f, a, (R[0, 1] + R[1, 0]) * f, (R[0, 2] + R[2, 0]) * f),
            ((R[0, 2] - R[2, 0]) * f, (R[0, 1] + R[1, 0]) * f, a, (R[1, 2] + R[2, 1]) * f),
            ((R[1, 0] - R[0, 1]) * f, (R[0, 2] + R[2, 0]) * f, (R[1, 2] + R[2, 1]) * f, a),
        ][k]
    )


cfgs = dict(
    bounce=dict(h=1e-4, k=1e6, rho=1.0, disc=10),
    default=dict(k=1e6, rec=False),
    best=dict(h=1e-4, fz=1e-5, k=1e6, rec=False),
    trap=dict(trap=True, reltol=1e-12),
    rk=dict(solver=exu.DynamicSolverType.DOPRI5, node=exu.NodeType.RotationRotationVector, rtol=1e-12, auto=True),
)
if __name__ == "__main__":
    main(Eng, cfgs)
