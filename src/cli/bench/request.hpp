// What `lasolve bench gemm` is asked for.
#pragma once

#include "bench/gemm.hpp"
#include "cli/request.hpp"

namespace lasolve::cli {

struct BenchRequest {
  bool quiet = false;
  std::vector<std::string> backends;  // names, or all
  std::vector<Device> devices;
  std::vector<Precision> precisions;  // none: those that a reference offers
  std::vector<bench::Product> products;
  bench::Settings settings;
  int patience = 60;  // seconds
  std::string json, csv;
  std::vector<std::string> words;  // of the command line, behind the name of the program
};

/// argv[0] is the word bench. Throws UsageError.
BenchRequest parse_bench(int argc, const char* const* argv);

}  // namespace lasolve::cli
