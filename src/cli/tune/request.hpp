// What `lasolve tune` is asked for.
#pragma once

#include "cli/request.hpp"

namespace lasolve::cli {

struct TuneRequest {
  bool quiet = false, forget = false;
  std::string json;
  std::vector<std::int64_t> sizes;
  std::vector<Method> methods;
  std::vector<Precision> precisions;
  std::vector<std::string> backends;  // names; "auto", the default, is the first
  Options options;                    // of every solve: the device and the threads
  double within = 0;                  // seconds
};

/// argv[0] is the word tune. Throws UsageError.
TuneRequest parse_tune(int argc, const char* const* argv);

}  // namespace lasolve::cli
