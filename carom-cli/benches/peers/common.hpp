// CPU clock of this thread and key=value arguments.
#pragma once
#include <time.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

struct Clock {
  static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
  }
  double t0 = now();
  double seconds() const { return now() - t0; }
};

struct Args {
  std::map<std::string, std::string> kv;
  Args(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string s(argv[i]);
      auto p = s.find('=');
      if (p != std::string::npos) kv[s.substr(0, p)] = s.substr(p + 1);
    }
  }
  double num(const char* k, double d) const {
    auto it = kv.find(k);
    return it == kv.end() ? d : std::atof(it->second.c_str());
  }
  std::string word(const char* k, const char* d) const {
    auto it = kv.find(k);
    return it == kv.end() ? d : it->second;
  }
};
