// Bouncing ball of one degree of freedom, Moreau-Jean with Lemke, in Siconos' C++ loop.
// arguments: h= T= reps=
#include <SiconosKernel.hpp>
#include <algorithm>
#include "common.hpp"

int main(int argc, char** argv) {
  Args a(argc, argv);
  const double h = a.num("h", 1e-4), T = a.num("T", 5);
  double best = 1e9, last = 0;
  for (int rep = 0; rep < (int)a.num("reps", 3); ++rep) {
    SP::SiconosVector q0(new SiconosVector(1, 1.0)), v0(new SiconosVector(1, 0.0));
    SP::SiconosMatrix M(new SimpleMatrix(1, 1));
    M->setValue(0, 0, 1.0);
    SP::LagrangianLinearTIDS ds(new LagrangianLinearTIDS(q0, v0, M));
    ds->setFExtPtr(SP::SiconosVector(new SiconosVector(1, -2.0)));
    SP::SimpleMatrix H(new SimpleMatrix(1, 1));
    H->setValue(0, 0, 1.0);
    SP::Interaction inter(new Interaction(SP::NonSmoothLaw(new NewtonImpactNSL(0.5)), SP::Relation(new LagrangianLinearTIR(H))));
    SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0., T));
    nsds->insertDynamicalSystem(ds);
    nsds->link(inter, ds);
    SP::MoreauJeanOSI osi(new MoreauJeanOSI(0.5));
    SP::TimeDiscretisation td(new TimeDiscretisation(0., h));
    SP::OneStepNSProblem lcp(new LCP(SICONOS_LCP_LEMKE));
    SP::TimeStepping sim(new TimeStepping(nsds, td, osi, lcp));
    sim->initialize();
    long k = 0;
    Clock c;
    while (sim->hasNextEvent()) {
      sim->computeOneStep();
      sim->nextStep();
      ++k;
    }
    best = std::min(best, c.seconds() / k);
    last = (*ds->q())(0);
  }
  std::printf("%.4e %.6e\n", best, last);
}
