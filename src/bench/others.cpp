#include "bench/others.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace lasolve::bench {

double Others::busy() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  if (!(stat >> word >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen) || word != "cpu")
    return -1;
  return (user + nice + system + interrupts + soft + stolen) / double(sysconf(_SC_CLK_TCK));
}

double Others::own() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double Others::processors() const {
  const double elapsed = watch_.seconds(), now = busy();
  if (elapsed < 0.9 || busy_ < 0 || now < 0) return 0;
  return std::max(0.0, (now - busy_ - (own() - own_)) / elapsed);
}

}  // namespace lasolve::bench
