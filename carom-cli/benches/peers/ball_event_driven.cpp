// Bouncing ball of one degree of freedom, event-driven with LSODAR and Lemke, in Siconos' C++ loop. Time per impact.
// arguments: e= impacts= h= (grid of the time discretisation; beyond the last impact it costs nothing) reps=
#include <SiconosKernel.hpp>
#include <algorithm>
#include "common.hpp"

int main(int argc, char** argv) {
  Args a(argc, argv);
  const double e = a.num("e", 0.9), h = a.num("h", 20), T = h;
  const long wanted = (long)a.num("impacts", 50);
  double best = 1e9, last = 0;
  long impacts = 0;
  for (int rep = 0; rep < (int)a.num("reps", 3); ++rep) {
    SP::SiconosVector q0(new SiconosVector(1, 1.0)), v0(new SiconosVector(1, 0.0));
    SP::SiconosMatrix M(new SimpleMatrix(1, 1));
    M->setValue(0, 0, 1.0);
    SP::LagrangianLinearTIDS ds(new LagrangianLinearTIDS(q0, v0, M));
    ds->setFExtPtr(SP::SiconosVector(new SiconosVector(1, -2.0)));
    SP::SimpleMatrix H(new SimpleMatrix(1, 1));
    H->setValue(0, 0, 1.0);
    SP::Interaction inter(new Interaction(SP::NonSmoothLaw(new NewtonImpactNSL(e)), SP::Relation(new LagrangianLinearTIR(H))));
    SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0., T));
    nsds->insertDynamicalSystem(ds);
    nsds->link(inter, ds);
    SP::TimeDiscretisation td(new TimeDiscretisation(0., h));
    SP::OneStepIntegrator osi(new LsodarOSI());
    SP::EventDriven sim(new EventDriven(nsds, td));
    sim->insertIntegrator(osi);
    sim->insertNonSmoothProblem(SP::OneStepNSProblem(new LCP(SICONOS_LCP_LEMKE)), SICONOS_OSNSP_ED_IMPACT);
    sim->insertNonSmoothProblem(SP::OneStepNSProblem(new LCP(SICONOS_LCP_LEMKE)), SICONOS_OSNSP_ED_SMOOTH_ACC);
    sim->initialize();
    SP::EventsManager events = sim->eventsManager();
    impacts = 0;
    Clock c;
    while (impacts < wanted && sim->hasNextEvent()) {
      sim->advanceToEvent();
      impacts += events->nextEvent()->getType() == NS_EVENT;
      sim->processEvents();
    }
    best = std::min(best, c.seconds() / std::max(1L, impacts));
    last = (*ds->q())(0);
  }
  std::printf("%.4e %.6e %ld\n", best, last, impacts);
}
