// One friction solver of Siconos on one stored problem, from a zero guess; lines of sandbox.hpp.
// arguments: file= form=local|global solver= tolerance= limit= budget= dense=0|1 answer= (reactions of the first call, 8-byte floating point)
// The clock holds the driver alone: reading, copying and options are outside; in global form all that the driver derives from
// M and H is inside. Every call has a fresh copy, because drivers leave conversions and factors in their matrices.
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SiconosNumerics.h>
#include <SolverOptions.h>
#include <fc3d_Solvers.h>
#include <fc3d_compute_error.h>
#include <gfc3d_compute_error.h>
#define restrict __restrict
#include <fc2d_compute_error.h>
#undef restrict
#include <vector>
#include "sandbox.hpp"

static double norm(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// A solver by name; ADMM with the settings that suit it best (balanced residuals from rho = 1/|M|).
static SolverOptions* options(const std::string& name, double tolerance) {
  struct Row {
    const char* name;
    int id, iterations;
  };
  static const Row rows[] = {
      {"nsgs", SICONOS_FRICTION_3D_NSGS, 200000},
      {"nsgs-full", SICONOS_FRICTION_3D_NSGS, 200000},
      {"nsn-ac", SICONOS_FRICTION_3D_NSN_AC, 1000},
      {"nsn-ac-hybrid", SICONOS_FRICTION_3D_NSN_AC, 1000},
      {"admm", SICONOS_FRICTION_3D_ADMM, 20000},
      {"nsgs-2d", SICONOS_FRICTION_2D_NSGS, 200000},
      {"cpg-2d", SICONOS_FRICTION_2D_CPG, 200000},
      {"lemke-2d", SICONOS_FRICTION_2D_LEMKE, 200000},
      {"enum-2d", SICONOS_FRICTION_2D_ENUM, 200000},
      {"nsgs-wr", SICONOS_GLOBAL_FRICTION_3D_NSGS_WR, 200000},
      {"nsgs-global", SICONOS_GLOBAL_FRICTION_3D_NSGS, 200000},
      {"nsn-ac-wr", SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR, 1000},
      {"admm-global", SICONOS_GLOBAL_FRICTION_3D_ADMM, 20000},
  };
  for (const Row& row : rows) {
    if (name != row.name) continue;
    SolverOptions* o = solver_options_create(row.id);
    o->iparam[SICONOS_IPARAM_MAX_ITER] = row.iterations;
    o->dparam[SICONOS_DPARAM_TOL] = tolerance;
    if (name == "nsgs-full")
      o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
    if (name == "nsn-ac-hybrid")
      o->iparam[SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY] = SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN;
    if (name == "admm") {
      o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY] = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING;
      o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO] = SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_NORM_INF;
      o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_SPARSE_STORAGE] = SICONOS_FRICTION_3D_ADMM_FORCED_SPARSE_STORAGE;
    }
    return o;
  }
  return nullptr;
}

// The reactions for others to judge, once.
static void keep(const Args& a, int number, const std::vector<double>& r) {
  if (number > 0) return;
  FILE* file = std::fopen(a.word("answer", "").c_str(), "wb");
  if (!file) return;
  std::fwrite(r.data(), 8, r.size(), file);
  std::fclose(file);
}

static int solve_local(FrictionContactProblem* p, double* r, double* u, SolverOptions* o) {
  return p->dimension == 3 ? fc3d_driver(p, r, u, o) : fc2d_driver(p, r, u, o);
}

static double local_error(FrictionContactProblem* p, std::vector<double>& r, SolverOptions* o) {
  const int n = p->dimension * p->numberOfContacts;
  std::vector<double> u(n);
  double error = INFINITY;
  if (p->dimension == 3)
    fc3d_compute_error(p, r.data(), u.data(), 1e-8, o, norm(p->q, n), &error);
  else
    fc2d_compute_error(p, r.data(), u.data(), 1e-8, norm(p->q, n), &error);
  return error;
}

static Outcome one_local(FrictionContactProblem* stored, const Args& a, int number) {
  const int n = stored->dimension * stored->numberOfContacts;
  FrictionContactProblem* p = frictionContact_copy(stored);
  SolverOptions* o = options(a.word("solver", "nsgs"), a.num("tolerance", 1e-8));
  std::vector<double> r(n), u(n);
  CallClock c;
  const int status = solve_local(p, r.data(), u.data(), o);
  const double seconds = c.seconds();
  const int iterations = o->iparam[SICONOS_IPARAM_ITER_DONE];
  const double error = local_error(stored, r, o);
  solver_options_delete(o);
  frictionContactProblem_free(p);
  keep(a, number, r);
  return {seconds, error, status, iterations};
}

static Outcome one_global(GlobalFrictionContactProblem* stored, const Args& a, int number) {
  const int m = stored->dimension * stored->numberOfContacts, n = stored->M->size0;
  GlobalFrictionContactProblem* p = globalFrictionContact_copy(stored);
  SolverOptions* o = options(a.word("solver", "nsgs-wr"), a.num("tolerance", 1e-8));
  std::vector<double> r(m), u(m), v(n);
  Outcome outcome;
  CallClock c;
  outcome.status = gfc3d_driver(p, r.data(), u.data(), v.data(), o);
  outcome.seconds = c.seconds();
  outcome.error = INFINITY;
  gfc3d_compute_error(stored, r.data(), u.data(), v.data(), 1e-8, o, norm(stored->q, n), norm(stored->b, m), &outcome.error);
  outcome.iterations = o->iparam[SICONOS_IPARAM_ITER_DONE];
  solver_options_delete(o);
  globalFrictionContact_free(p);
  keep(a, number, r);
  return outcome;
}

int main(int argc, char** argv) {
  Args a(argc, argv);
  const std::string file = a.word("file", "");
  if (a.word("form", "local") == "global") {
    GlobalFrictionContactProblem* p = globalFrictionContact_new_from_filename(file.c_str());
    if (!p || p->dimension != 3) return 1;  // there is no planar driver of the global form
    measure(a, [&](int number) { return one_global(p, a, number); });
  } else {
    FrictionContactProblem* p = frictionContact_new_from_filename(file.c_str());
    if (!p) return 1;
    if (a.num("dense", 0)) {
      NumericsMatrix* dense = NM_create(NM_DENSE, p->M->size0, p->M->size1);
      NM_to_dense(p->M, dense);
      p->M = dense;
    }
    measure(a, [&](int number) { return one_local(p, a, number); });
  }
}
