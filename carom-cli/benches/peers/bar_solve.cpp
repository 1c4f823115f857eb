// The linear solve of Siconos alone, for the iteration matrix of the impacting bar (sparse, factored before).
// arguments: N= h=
#include <SiconosKernel.hpp>
#include <algorithm>
#include "common.hpp"

int main(int argc, char** argv) {
  Args a(argc, argv);
  const int N = (int)a.num("N", 1000), n = N + 1;
  const double h = a.num("h", 2e-6), theta = 0.5, S = 3.14159265358979e-4, rho = 7800, E = 210e9, le = 1.0 / N;
  const double cm = rho * S * le / 6, ck = E * S / le * h * h * theta * theta;
  SP::SiconosMatrix A(new SimpleMatrix(n, n, Siconos::SPARSE, 3 * n));
  for (int i = 0; i < n; ++i) {
    const int ends = (i == 0) + (i == n - 1);
    if (i > 0) A->setValue(i, i - 1, cm - ck);
    A->setValue(i, i, (4 - 2 * ends) * cm + (2 - ends) * ck);
    if (i < n - 1) A->setValue(i, i + 1, cm - ck);
  }
  SiconosVector b(n, cm);
  A->Solve(b);
  double best = 1e9;
  for (int rep = 0; rep < 200; ++rep) {
    SiconosVector x(n, cm);
    Clock c;
    A->Solve(x);
    best = std::min(best, c.seconds());
  }
  std::printf("%.4e %.6e\n", best, b(0));
}
