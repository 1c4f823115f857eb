// The slider-crank as three rigid bodies in space: three revolute joints, four corners of the slider against the walls
// of its guide with friction. Arguments: h= T= reps= tol=
#include <SiconosKernel.hpp>
#include <NewtonEulerDS.hpp>
#include <NewtonEuler3DR.hpp>
#include <PivotJointR.hpp>
#include <GenericMechanical.hpp>
#include <SolverOptions.h>
#include <Friction_cst.h>
#include <algorithm>
#include <cmath>
#include "common.hpp"

namespace P {
const double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001, g = 9.81;
const double mass[3] = {0.038, 0.038, 0.076}, across[3] = {7.4e-5, 5.9e-4, 2.7e-6}, along = 1e-5;
const double centre[3] = {0.5 * l1, l1 + 0.5 * l2, l1 + l2};
const double spin[3] = {150., -75., 0.}, speed[3] = {11.475, 11.475, 0.};
}

// a corner of the slider, (sx a, sy b) from its centre, against its wall
struct Corner : public NewtonEuler3DR {
  double sx, sy;
  Corner(double x, double y) : sx(x), sy(y) {}
  void computeh(double, const BlockVector& q, SiconosVector& y) override {
    const double w = q(3), i = q(4), j = q(5), k = q(6), px = sx * P::a, py = sy * P::b;
    const double x = q(0) + (1 - 2 * (j * j + k * k)) * px + 2 * (i * j - w * k) * py;
    const double h = q(1) + 2 * (i * j + w * k) * px + (1 - 2 * (i * i + k * k)) * py;
    const double z = q(2) + 2 * (i * k - w * j) * px + 2 * (j * k + w * i) * py;
    y.setValue(0, P::b + P::c - sy * h);
    _Pc1->setValue(0, x); _Pc1->setValue(1, h); _Pc1->setValue(2, z);
    _Pc2->setValue(0, x); _Pc2->setValue(1, sy * (P::b + P::c)); _Pc2->setValue(2, z);
    _Nc->setValue(0, 0); _Nc->setValue(1, -sy); _Nc->setValue(2, 0);
  }
};

int main(int argc, char** argv) {
  Args args(argc, argv);
  const double h = args.num("h", 1e-5), T = args.num("T", 0.1);
  double best = 1e9, speed = 0;
  for (int rep = 0; rep < (int)args.num("reps", 3); ++rep) try {
    SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0., T));
    SP::NewtonEulerDS body[3];
    for (int i = 0; i < 3; ++i) {
      SP::SiconosVector q(new SiconosVector(7)), v(new SiconosVector(6)), f(new SiconosVector(3));
      q->zero(); v->zero(); f->zero();
      q->setValue(0, P::centre[i]); q->setValue(3, 1.);
      v->setValue(1, P::speed[i]); v->setValue(5, P::spin[i]);
      SP::SimpleMatrix inertia(new SimpleMatrix(3, 3));
      inertia->zero();
      inertia->setValue(0, 0, P::along); inertia->setValue(1, 1, P::across[i]); inertia->setValue(2, 2, P::across[i]);
      body[i].reset(new NewtonEulerDS(q, v, P::mass[i], inertia));
      f->setValue(1, -P::mass[i] * P::g);
      body[i]->setFExtPtr(f);
      nsds->insertDynamicalSystem(body[i]);
    }
    SP::SiconosVector axis(new SiconosVector(3));
    axis->zero(); axis->setValue(2, 1.);
    const double at[3] = {0., P::l1, P::l1 + P::l2};
    for (int i = 0; i < 3; ++i) {
      SP::SiconosVector point(new SiconosVector(3));
      point->zero(); point->setValue(0, at[i]);
      SP::PivotJointR joint(i == 0 ? new PivotJointR(point, axis, true, body[0])
                                   : new PivotJointR(point, axis, true, body[i - 1], body[i]));
      SP::NonSmoothLaw law(new EqualityConditionNSL(joint->numberOfConstraints()));
      SP::Interaction link(new Interaction(law, joint));
      if (i == 0) nsds->link(link, body[0]); else nsds->link(link, body[i - 1], body[i]);
    }
    for (double sy : {1., -1.}) for (double sx : {-1., 1.}) {
      SP::NonSmoothLaw law(new NewtonImpactFrictionNSL(0.4, 0., 0.01, 3));
      SP::Interaction contact(new Interaction(law, SP::Relation(new Corner(sx, sy))));
      nsds->link(contact, body[2]);
    }
    SP::MoreauJeanOSI osi(new MoreauJeanOSI(0.5));
    SP::TimeDiscretisation td(new TimeDiscretisation(0., h));
    SP::OneStepNSProblem problem(new GenericMechanical(SICONOS_FRICTION_3D_ONECONTACT_NSN));
    problem->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = args.num("tol", 1e-10);
    problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    problem->numericsSolverOptions()->iparam[2] = 1;   // equalities are eliminated before Gauss-Seidel
    SP::TimeStepping sim(new TimeStepping(nsds, td));
    sim->insertIntegrator(osi);
    sim->insertNonSmoothProblem(problem, SICONOS_OSNSP_TS_VELOCITY);
    sim->setNewtonTolerance(1e-9);
    sim->setNewtonMaxIteration(50);
    sim->setWarnOnNonConvergence(false);
    sim->initialize();
    long k = 0;
    Clock clock;
    while (sim->hasNextEvent()) {
      sim->advanceToEvent();
      sim->processEvents();
      ++k;
    }
    best = std::min(best, clock.seconds() / k);
    speed = (*body[0]->twist())(5);
  } catch (...) { Siconos::exception::process(); return 1; }
  std::printf("%.4e %.6e\n", best, speed);
}
