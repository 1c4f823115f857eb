// Measures a solver that may print, abort or never end: a line for each call that was faster than those before goes to the real
// standard output, all other output is dropped, and the process dies when its CPU time is over.
#pragma once
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmath>
#include <functional>
#include "common.hpp"

// Wall clock for calls below a millisecond, CPU clock for longer ones, as on our side. (The CPU clock of a thread sometimes
// jumps by microseconds: the least of many short calls would be too small.)
struct CallClock {
  static double wall() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
  }
  Clock processor;
  double start = wall();
  double seconds() const {
    const double elapsed = wall() - start;
    return elapsed < 1e-3 ? elapsed : std::fmin(elapsed, processor.seconds());
  }
};

// What one call did: error as the peer measures it, its own status and its iterations.
struct Outcome {
  double seconds, error;
  int status, iterations;
};

// Calls until there are three results and `budget` seconds have passed, at most 100000 times; `call` is told its number.
inline void measure(const Args& a, const std::function<Outcome(int)>& call) {
  FILE* out = fdopen(dup(1), "w");
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, 1);
  dup2(null, 2);
  const double limit = a.num("limit", 3), budget = a.num("budget", 0.2);
  itimerval timer = {{0, 0}, {(time_t)limit, (suseconds_t)(1e6 * (limit - std::floor(limit)))}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  Clock all;
  double best = INFINITY;
  for (int k = 0; k < 100000 && (k < 3 || all.seconds() < budget); ++k) {
    const Outcome o = call(k);
    if (!(o.seconds < best)) continue;
    best = o.seconds;
    std::fprintf(out, "%.4e %.3e %d %d\n", o.seconds, o.error, o.status, o.iterations);
    // lines of long calls must outlive the process; short calls would suffer from a cold cache
    if (k == 0 || o.seconds > 1e-3) std::fflush(out);
  }
  std::fflush(out);
}
