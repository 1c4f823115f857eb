// Bridge of four ideal diodes between a resonant circuit and a resistor: Euler-Moreau with theta = 1/2 and Lemke, in Siconos' C++ loop.
// arguments: h= T= reps= theta=
#include <SiconosKernel.hpp>
#include <algorithm>
#include "common.hpp"

// matrix of m rows and n columns from numbers by rows
static SP::SimpleMatrix matrix(int m, int n, const double* values) {
  SP::SimpleMatrix a(new SimpleMatrix(m, n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) a->setValue(i, j, values[i * n + j]);
  return a;
}

int main(int argc, char** argv) {
  Args a(argc, argv);
  const double h = a.num("h", 1e-6), T = a.num("T", 5e-3), theta = a.num("theta", 0.5);
  const double k = 1e6, l = 1e2, g = 1e-3;  // 1/C, 1/L, 1/R
  const double A[] = {0, -k, l, 0};
  const double B[] = {0, 0, -k, k, 0, 0, 0, 0};
  const double C[] = {0, 0, 0, 0, -1, 0, 1, 0};
  const double D[] = {g, g, -1, 0, g, g, 0, -1, 1, 0, 0, 0, 0, 1, 0, 0};
  double best = 1e9, v = 0, i = 0;
  for (int rep = 0; rep < (int)a.num("reps", 3); ++rep) {
    SP::SiconosVector x0(new SiconosVector(2));
    x0->setValue(0, 10);
    SP::FirstOrderLinearDS ds(new FirstOrderLinearDS(x0, matrix(2, 2, A)));
    SP::FirstOrderLinearTIR relation(new FirstOrderLinearTIR(matrix(4, 2, C), matrix(2, 4, B)));
    relation->setDPtr(matrix(4, 4, D));
    SP::Interaction inter(new Interaction(SP::NonSmoothLaw(new ComplementarityConditionNSL(4)), relation));
    SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0., T));
    nsds->insertDynamicalSystem(ds);
    nsds->link(inter, ds);
    SP::EulerMoreauOSI osi(new EulerMoreauOSI(theta));
    SP::TimeDiscretisation td(new TimeDiscretisation(0., h));
    SP::OneStepNSProblem lcp(new LCP(SICONOS_LCP_LEMKE));
    SP::TimeStepping sim(new TimeStepping(nsds, td, osi, lcp));
    sim->initialize();
    long steps = 0;
    Clock c;
    while (sim->hasNextEvent()) {
      sim->computeOneStep();
      sim->nextStep();
      ++steps;
    }
    best = std::min(best, c.seconds() / steps);
    v = (*ds->x())(0);
    i = (*ds->x())(1);
  }
  std::printf("%.4e %.15g %.15g\n", best, v, i);
}
