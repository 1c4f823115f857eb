// Lemke's method of Siconos on a dense linear complementarity problem; lines of sandbox.hpp, the error being max |min(z, Mz + q)|.
// arguments: file= (number of rows as 8 bytes, then M by columns and q as 8-byte floating point) limit= budget=
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SiconosNumerics.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <algorithm>
#include <cstdint>
#include <vector>
#include "sandbox.hpp"

int main(int argc, char** argv) {
  Args a(argc, argv);
  FILE* file = std::fopen(a.word("file", "").c_str(), "rb");
  uint64_t n = 0;
  if (!file || std::fread(&n, 8, 1, file) != 1) return 1;
  NumericsMatrix* M = NM_create(NM_DENSE, n, n);
  std::vector<double> q(n);
  if (std::fread(M->matrix0, 8, n * n, file) != n * n || std::fread(q.data(), 8, n, file) != n) return 1;
  LinearComplementarityProblem p;
  p.size = n;
  p.M = M;
  p.q = q.data();
  measure(a, [&](int) {
    SolverOptions* o = solver_options_create(SICONOS_LCP_LEMKE);
    o->dparam[SICONOS_DPARAM_TOL] = 1e-10;
    o->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    std::vector<double> z(n), w(n), image(q);
    CallClock c;
    const int status = linearComplementarity_driver(&p, z.data(), w.data(), o);
    const double seconds = c.seconds();
    const int iterations = o->iparam[SICONOS_IPARAM_ITER_DONE];
    solver_options_delete(o);
    NM_gemv(1.0, M, z.data(), 1.0, image.data());
    double error = 0;
    for (uint64_t i = 0; i < n; ++i) {
      const double missed = std::fabs(std::min(z[i], image[i]));
      if (!(missed <= error)) error = missed;
    }
    return Outcome{seconds, error, status, iterations};
  });
}
