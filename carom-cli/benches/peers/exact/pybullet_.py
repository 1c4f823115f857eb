"""PyBullet 3.2.7"""

from common import *
import pybullet as p


class Eng(Base):
    has_restitution = True

    def build(s):
        p.resetSimulation() if p.isConnected() else p.connect(p.DIRECT)
        o = s.opt
        p.setGravity(*s.g)
        kw = (
            {}
            if o.get("default")
            else dict(
                numSolverIterations=o.get("it", 1000),
                solverResidualThreshold=o.get("res", 1e-20),
                restitutionVelocityThreshold=o.get("rvt", 0.0),
                erp=o.get("erp", 0.2),
                contactERP=o.get("cerp", 0.2),
                frictionERP=0.2,
                contactSlop=o.get("slop", 0.0),
                enableConeFriction=1,
                allowedCcdPenetration=0.0,
                globalCFM=0.0,
            )
        )
        p.setPhysicsEngineParameter(fixedTimeStep=s.h, numSubSteps=0, deterministicOverlappingPairs=1, **kw)
        if o.get("solver") is not None:
            p.setPhysicsEngineParameter(constraintSolverType=o["solver"])
        s.id, s.ln = {}, {}
        kids = {j["b"]: j for j in s.joints}

        def shapes(b):
            f = dict(
                sphere=lambda a: dict(shapeType=p.GEOM_SPHERE, radius=a[0]),
                box=lambda a: dict(shapeType=p.GEOM_BOX, halfExtents=list(a)),
                plane=lambda a: dict(shapeType=p.GEOM_PLANE, planeNormal=[0, 0, 1]),
                cylinder=lambda a: dict(shapeType=p.GEOM_CYLINDER, radius=a[0], height=2 * a[1]),
                capsule=lambda a: dict(shapeType=p.GEOM_CAPSULE, radius=a[0], height=2 * a[1]),
            )
            if not b["shapes"]:
                return p.createCollisionShape(
                    p.GEOM_BOX, halfExtents=[0.5, 0.02, 0.02]
                )  # a link without a shape ignores localInertiaDiagonal
            if len(b["shapes"]) == 1:
                t, a, lp, lq = b["shapes"][0]
                return p.createCollisionShape(
                    collisionFramePosition=lp, collisionFrameOrientation=lq[1:] + lq[:1], **f[t](a)
                )
            ds = [f[t](a) for t, a, _, _ in b["shapes"]]
            return p.createCollisionShapeArray(
                shapeTypes=[d["shapeType"] for d in ds],
                radii=[d.get("radius", 0) for d in ds],
                halfExtents=[d.get("halfExtents", [0, 0, 0]) for d in ds],
                lengths=[d.get("height", 0) for d in ds],
                collisionFramePositions=[x[2] for x in b["shapes"]],
                collisionFrameOrientations=[x[3][1:] + x[3][:1] for x in b["shapes"]],
            )

        s.fixedn = 0
        for i, b in enumerate(s.bodies):
            j = kids.get(i)
            if j is None:
                s.id[i] = p.createMultiBody(
                    0 if b["static"] else b["m"],
                    shapes(b),
                    -1,
                    b["pos"],
                    b["q"][1:] + b["q"][:1],
                    useMaximalCoordinates=int(o.get("maxc", 0)),
                )
                s.ln[i] = -1
            elif o.get("jmax") or j["kind"] == "slide" and False:
                s.id[i] = p.createMultiBody(b["m"], shapes(b), -1, b["pos"], [0, 0, 0, 1])
                s.ln[i] = -1
            elif j["a"] is None:  # fixed base + chain of links, reduced coordinates
                chain = [i]
                while True:
                    n = [k for k, jj in kids.items() if jj["a"] == chain[-1]]
                    if not n:
                        break
                    chain += n
                pos = [s.bodies[k]["pos"] for k in chain]
                base = np.zeros(3)
                args = dict(
                    linkMasses=[],
                    linkCollisionShapeIndices=[],
                    linkVisualShapeIndices=[],
                    linkPositions=[],
                    linkOrientations=[],
                    linkInertialFramePositions=[],
                    linkInertialFrameOrientations=[],
                    linkParentIndices=[],
                    linkJointTypes=[],
                    linkJointAxis=[],
                )
                prev = base
                for n, k in enumerate(chain):
                    jj = kids[k]
                    bb = s.bodies[k]
                    off = np.array(bb["pos"]) - jj["anchor"]
                    sh = [(t, a, tuple(np.array(lp) + off), lq) for t, a, lp, lq in bb["shapes"]]
                    for key, val in (
                        ("linkMasses", bb["m"]),
                        (
                            "linkCollisionShapeIndices",
                            (
                                shapes(dict(shapes=sh))
                                if sh
                                else p.createCollisionShape(
                                    p.GEOM_BOX, halfExtents=[0.5, 0.02, 0.02], collisionFramePosition=list(off)
                                )
                            ),
                        ),
                        ("linkVisualShapeIndices", -1),
                        ("linkPositions", list(jj["anchor"] - prev)),
                        ("linkOrientations", [0, 0, 0, 1]),
                        ("linkInertialFramePositions", list(off)),
                        ("linkInertialFrameOrientations", [0, 0, 0, 1]),
                        ("linkParentIndices", n),
                        ("linkJointTypes", p.JOINT_REVOLUTE if jj["kind"] == "rev" else p.JOINT_PRISMATIC),
                        ("linkJointAxis", list(jj["axis"])),
                    ):
                        args[key].append(val)
                    prev = jj["anchor"]
                m = p.createMultiBody(0, -1, -1, [0, 0, 0], **args)
                for n, k in enumerate(chain):
                    s.id[k], s.ln[k] = m, n
                    p.setJointMotorControl2(m, n, p.VELOCITY_CONTROL, force=0)
        for i, b in enumerate(s.bodies):
            d = dict(
                lateralFriction=math.sqrt(b["mu"]),
                restitution=math.sqrt(b["e"]),  # Bullet multiplies the two coefficients
                spinningFriction=0,
                rollingFriction=0,
            )
            if not b["static"]:
                d.update(
                    localInertiaDiagonal=list(b["J"]), **(dict(mass=b["m"]) if s.ln[i] < 0 else {})
                )  # link masses are set at creation
            if not o.get("default") or True:
                d.update(linearDamping=0, angularDamping=0, jointDamping=0, maxJointVelocity=1e6)
            if o.get("cpt") is not None:
                d.update(contactProcessingThreshold=o["cpt"])
            if o.get("keepdamp"):
                [d.pop(k) for k in ("linearDamping", "angularDamping")]
            p.changeDynamics(s.id[i], s.ln[i], **d)
            if not b["shapes"]:
                p.setCollisionFilterGroupMask(s.id[i], s.ln[i], 0, 0)
            if not b["static"] and s.ln[i] < 0:
                p.resetBaseVelocity(s.id[i], b["v"], b["w"])
        if o.get("jmax"):
            for j in s.joints:
                a, b = j["a"], j["b"]
                pb = list(j["anchor"] - np.array(s.bodies[b]["pos"]))
                if a is None:
                    c = p.createConstraint(s.id[b], -1, -1, -1, p.JOINT_POINT2POINT, [0, 1, 0], pb, list(j["anchor"]))
                else:
                    c = p.createConstraint(
                        s.id[a],
                        -1,
                        s.id[b],
                        -1,
                        p.JOINT_POINT2POINT,
                        [0, 1, 0],
                        list(j["anchor"] - np.array(s.bodies[a]["pos"])),
                        pb,
                    )
        s.hasF = any(b["F"].any() for b in s.bodies)

    def force(s, i, F):
        s.bodies[i]["F"] = np.array(F, float)
        s.hasF = True

    def step(s):
        if s.hasF:
            for i, b in enumerate(s.bodies):
                if b["F"].any():
                    p.applyExternalForce(s.id[i], s.ln[i], list(b["F"]), [0, 0, 0], p.LINK_FRAME)
        p.stepSimulation()
        s.t += s.h

    def state(s, i):
        if s.ln[i] < 0:
            x, q = p.getBasePositionAndOrientation(s.id[i])
            v, w = p.getBaseVelocity(s.id[i])
        else:
            l = p.getLinkState(s.id[i], s.ln[i], computeLinkVelocity=1, computeForwardKinematics=1)
            x, q, v, w = l[0], l[1], l[6], l[7]
        return np.array(x), np.array((q[3],) + tuple(q[:3])), np.array(v), np.array(w)

    def ground_force(s):
        return sum(c[9] for c in p.getContactPoints(s.id[0]))


cfgs = dict(
    default=dict(default=True),
    best=dict(it=300, cerp=0.2),
    bounce=dict(h=1e-4, it=50, cpt=0.0, erp=0.0, cerp=0.0),
    maxc=dict(it=300, jmax=1),
)
if __name__ == "__main__":
    main(Eng, cfgs)
