// Slider-crank with clearance in the guide: three angles, four frictional corners, Moreau-Jean in Siconos' C++ loop.
// The equations are those of examples/slider-crank.toml, with their derivatives written out. Two revolutions.
// arguments: h= T= reps=
#include <SiconosKernel.hpp>
#include <Friction_cst.h>
#include <SolverOptions.h>
#include <algorithm>
#include <cmath>
#include "common.hpp"

static const double L1 = 0.153, L2 = 0.306, HALF = 0.05, HIGH = 0.025, GUIDE = 0.026, G = 9.81;
static const double M1 = 0.038, M2 = 0.038, M3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6;
static const double COUPLING = (M2 / 2 + M3) * L1 * L2;
static const double LIFT1 = (M1 / 2 + M2 + M3) * G * L1, LIFT2 = (M2 / 2 + M3) * G * L2;

static SP::SimpleMatrix square() {
  SP::SimpleMatrix m(new SimpleMatrix(3, 3));
  m->zero();
  return m;
}

// mass M(q), gyroscopic forces N(q, v) and weights f(q) on the left-hand side
struct Mechanism : LagrangianDS {
  Mechanism(SP::SiconosVector q, SP::SiconosVector v) : LagrangianDS(q, v) {
    _mass = square();
    _jacobianFGyrq = square();
    _jacobianFGyrqDot = square();
    _jacobianFIntq = square();
    _jacobianFIntqDot = square();
    _fGyr.reset(new SiconosVector(3));
    _fInt.reset(new SiconosVector(3));
    _hasConstantMass = false;
    computeMass();
  }
  using LagrangianDS::computeFGyr;
  using LagrangianDS::computeFInt;
  using LagrangianDS::computeMass;
  void computeMass() override { computeMass(_q[0]); }
  void computeMass(SP::SiconosVector q) override {
    const double off = COUPLING * std::cos((*q)(0) - (*q)(1));
    _mass->setValue(0, 0, J1 + (M1 / 4 + M2 + M3) * L1 * L1);
    _mass->setValue(1, 1, J2 + (M2 / 4 + M3) * L2 * L2);
    _mass->setValue(2, 2, J3);
    _mass->setValue(0, 1, off);
    _mass->setValue(1, 0, off);
  }
  void computeFGyr() override { computeFGyr(_q[0], _q[1]); }
  void computeFGyr(SP::SiconosVector q, SP::SiconosVector v) override {
    const double s = COUPLING * std::sin((*q)(0) - (*q)(1));
    _fGyr->setValue(0, s * (*v)(1) * (*v)(1));
    _fGyr->setValue(1, -s * (*v)(0) * (*v)(0));
    _fGyr->setValue(2, 0);
  }
  void computeJacobianFGyrq() override { computeJacobianFGyrq(_q[0], _q[1]); }
  void computeJacobianFGyrq(SP::SiconosVector q, SP::SiconosVector v) override {
    const double c = COUPLING * std::cos((*q)(0) - (*q)(1));
    for (int j = 0; j < 2; ++j) {
      const double sign = j == 0 ? 1 : -1;
      _jacobianFGyrq->setValue(0, j, sign * c * (*v)(1) * (*v)(1));
      _jacobianFGyrq->setValue(1, j, -sign * c * (*v)(0) * (*v)(0));
    }
  }
  void computeJacobianFGyrqDot() override { computeJacobianFGyrqDot(_q[0], _q[1]); }
  void computeJacobianFGyrqDot(SP::SiconosVector q, SP::SiconosVector v) override {
    const double s = COUPLING * std::sin((*q)(0) - (*q)(1));
    _jacobianFGyrqDot->setValue(0, 1, 2 * s * (*v)(1));
    _jacobianFGyrqDot->setValue(1, 0, -2 * s * (*v)(0));
  }
  void computeFInt(double t) override { computeFInt(t, _q[0], _q[1]); }
  void computeFInt(double, SP::SiconosVector q, SP::SiconosVector) override {
    _fInt->setValue(0, LIFT1 * std::cos((*q)(0)));
    _fInt->setValue(1, LIFT2 * std::cos((*q)(1)));
    _fInt->setValue(2, 0);
  }
  void computeJacobianFIntq(double t) override { computeJacobianFIntq(t, _q[0], _q[1]); }
  void computeJacobianFIntq(double, SP::SiconosVector q, SP::SiconosVector) override {
    _jacobianFIntq->setValue(0, 0, -LIFT1 * std::sin((*q)(0)));
    _jacobianFIntq->setValue(1, 1, -LIFT2 * std::sin((*q)(1)));
  }
  void computeJacobianFIntqDot(double) override {}
  void computeJacobianFIntqDot(double, SP::SiconosVector, SP::SiconosVector) override {}
};

// a corner at (along * half length, side * half height), against the wall on its side
struct Corner : LagrangianScleronomousR {
  double along, side;
  Corner(double along, double side) : along(along), side(side) { _jachq.reset(new SimpleMatrix(2, 3)); }
  void computeh(const BlockVector& q, BlockVector&, SiconosVector& y) override {
    const double s = std::sin(q(2)), c = std::cos(q(2));
    y.setValue(0, GUIDE - side * (L1 * std::sin(q(0)) + L2 * std::sin(q(1)) + along * HALF * s + side * HIGH * c));
    y.setValue(1, L1 * std::cos(q(0)) + L2 * std::cos(q(1)) + along * HALF * c - side * HIGH * s);
  }
  void computeJachq(const BlockVector& q, BlockVector&) override {
    const double s = std::sin(q(2)), c = std::cos(q(2));
    _jachq->setValue(0, 0, -side * L1 * std::cos(q(0)));
    _jachq->setValue(0, 1, -side * L2 * std::cos(q(1)));
    _jachq->setValue(0, 2, -side * (along * HALF * c - side * HIGH * s));
    _jachq->setValue(1, 0, -L1 * std::sin(q(0)));
    _jachq->setValue(1, 1, -L2 * std::sin(q(1)));
    _jachq->setValue(1, 2, -along * HALF * s - side * HIGH * c);
  }
};

int main(int argc, char** argv) {
  Args a(argc, argv);
  const double h = a.num("h", 1e-5), T = a.num("T", 0.13757);
  double best = 1e9, speed = 0;
  for (int rep = 0; rep < (int)a.num("reps", 5); ++rep) {
    SP::SiconosVector q0(new SiconosVector(3)), v0(new SiconosVector(3));
    q0->zero();
    v0->setValue(0, 150);
    v0->setValue(1, -75);
    v0->setValue(2, 0);
    std::shared_ptr<Mechanism> ds(new Mechanism(q0, v0));
    SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0, T));
    nsds->insertDynamicalSystem(ds);
    for (double side : {1., -1.})
      for (double along : {-1., 1.}) {
        SP::NonSmoothLaw law(new NewtonImpactFrictionNSL(0.4, 0, 0.01, 2));
        SP::Interaction inter(new Interaction(law, SP::Relation(new Corner(along, side))));
        nsds->link(inter, ds);
      }
    SP::OneStepNSProblem friction(new FrictionContact(2, SICONOS_FRICTION_2D_ENUM));
    friction->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-12;
    SP::TimeStepping sim(new TimeStepping(nsds, SP::TimeDiscretisation(new TimeDiscretisation(0, h))));
    sim->insertIntegrator(SP::MoreauJeanOSI(new MoreauJeanOSI(0.5)));
    sim->insertNonSmoothProblem(friction, SICONOS_OSNSP_TS_VELOCITY);
    sim->setNewtonTolerance(1e-10);
    sim->setNewtonMaxIteration(200);
    sim->setWarnOnNonConvergence(false);
    sim->initialize();
    long k = 0;
    Clock c;
    while (sim->hasNextEvent()) {
      sim->advanceToEvent();
      sim->processEvents();
      ++k;
    }
    best = std::min(best, c.seconds() / k);
    speed = (*ds->velocity())(0);
  }
  std::printf("%.4e %.6e\n", best, speed);
}
