"""The pour in Siconos (mechanics with Bullet's contact points, NSGS); the fifth word is the solver's tolerance."""
import sys
import time

import numpy as np
import siconos.kernel as kernel
import siconos.numerics as numerics
from common import G, MASS, R, Report, arguments, boxes, places
from siconos.mechanics.collision import (
    RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosSphere,
)
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

n, steps, h, mu = arguments()
options = SiconosBulletOptions()
options.perturbationIterations = 0
options.minimumPointsPerturbationThreshold = 0
manager = SiconosBulletCollisionManager(options)
manager.insertNonSmoothLaw(kernel.NewtonImpactFrictionNSL(0.0, 0.0, mu, 3), 0, 0)
system = kernel.NonSmoothDynamicalSystem(0.0, h * (steps + 1))
kept = []  # the library holds no reference of its own
for half, middle in boxes():
    shape, contactors = SiconosBox(*(2 * a for a in half)), SiconosContactorSet()
    shape.setInsideMargin(0.0)
    shape.setOutsideMargin(0.0)
    contactors.append(SiconosContactor(shape))
    manager.insertStaticContactorSet(contactors, kernel.SiconosVector([*middle, 1.0, 0.0, 0.0, 0.0]))
    kept += [shape, contactors]
sphere, bodies = SiconosSphere(R), []
for place in places(n):
    body = RigidBodyDS([*place, 1, 0, 0, 0], [0.0] * 6, MASS, np.eye(3) * 0.4 * MASS * R * R)
    contactors = SiconosContactorSet()
    contactors.append(SiconosContactor(sphere))
    body.setContactors(contactors)
    body.setFExtPtr(kernel.SiconosVector([0, 0, -MASS * G]))
    system.insertDynamicalSystem(body)
    bodies.append(body)
    kept.append(contactors)

friction = kernel.FrictionContact(3, numerics.SICONOS_FRICTION_3D_NSGS)
solver = friction.numericsSolverOptions()
solver.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 1000
solver.dparam[numerics.SICONOS_DPARAM_TOL] = float(sys.argv[5])
friction.setMStorageType(numerics.NM_SPARSE_BLOCK)
friction.setMaxSize(30000)
friction.setKeepLambdaAndYState(True)
simulation = kernel.TimeStepping(system, kernel.TimeDiscretisation(0.0, h))
simulation.insertInteractionManager(manager)
simulation.insertIntegrator(kernel.MoreauJeanOSI(0.5))
simulation.insertNonSmoothProblem(friction, kernel.SICONOS_OSNSP_TS_VELOCITY)
simulation.setNewtonOptions(kernel.SICONOS_TS_LINEAR)
simulation.setNewtonMaxIteration(1)
simulation.initialize()
report = Report(steps)
for _ in range(steps):
    clock = time.process_time()
    simulation.computeOneStep()
    spent = time.process_time() - clock
    residual = solver.dparam[numerics.SICONOS_DPARAM_RESIDU] if friction.getSizeOutput() else 0.0
    clock = time.process_time()
    simulation.nextStep()
    report.step(spent + time.process_time() - clock, residual)
report.end([b.q()[:3] for b in bodies], [b.twist()[:3] for b in bodies], friction.getSizeOutput() // 3)
