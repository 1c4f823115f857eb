"""The pour in PyBullet, one thread; the fifth word is its number of solver iterations."""
import sys
import time

import pybullet as bullet
from common import G, MASS, R, Report, arguments, boxes, places

n, steps, h, mu = arguments()
bullet.connect(bullet.DIRECT)
bullet.setGravity(0, 0, -G)
bullet.setTimeStep(h)
bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, numSolverIterations=int(sys.argv[5]))


def material(body):
    # friction of two materials is multiplied
    bullet.changeDynamics(
        body, -1, lateralFriction=mu**0.5, restitution=0.0, linearDamping=0, angularDamping=0, rollingFriction=0,
        spinningFriction=0,
    )
    return body


for half, middle in boxes():
    shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=half)
    material(bullet.createMultiBody(0, shape, -1, middle))
ball = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=R)
balls = [material(bullet.createMultiBody(MASS, ball, -1, place)) for place in places(n)]
report = Report(steps)
for _ in range(steps):
    clock = time.process_time()
    bullet.stepSimulation()
    report.step(time.process_time() - clock)
x = [bullet.getBasePositionAndOrientation(body)[0] for body in balls]
v = [bullet.getBaseVelocity(body)[0] for body in balls]
report.end(x, v, len(bullet.getContactPoints()))
