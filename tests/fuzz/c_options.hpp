// Options of the C interface out of bytes: right words in wrong places, wrong ones, and numbers in range or not.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "lasolve/lasolve.h"

namespace lasolve::fuzz {

/// A word of any option, or one that none has; it is kept as long as the input. Null: the default.
inline const char* word_of(FuzzedDataProvider& in, std::vector<std::string>& kept) {
  static const char* const words[] = {
      nullptr,     "auto",  "cpu",     "cpu:0,1",       "cuda",         "cuda:1",     "lu",    "cholesky", "lu-nopivot",
      "both",      "lower", "upper",   "fp64",          "fp32",         "tf32",       "fp16",  "bf16",     "none",
      "classical", "gmres", "working", "extra",         "partial",      "tournament", "naive", "tiled",    "packed",
      "blas",      "eigen", "2,1",     "right-looking", "left-looking", "recursive",  ""};
  const std::size_t k = in.ConsumeIntegralInRange<std::size_t>(0, 2 * std::size(words));
  if (k > std::size(words)) return nullptr;
  if (k < std::size(words)) return words[k];
  kept.push_back(in.ConsumeRandomLengthString(24));
  return kept.back().c_str();
}

inline lasolve_options options_of(FuzzedDataProvider& in, std::vector<std::string>& kept) {
  lasolve_options o = LASOLVE_OPTIONS_INIT;
  for (const char** word : {&o.gemm, &o.device, &o.method, &o.triangle, &o.precision, &o.refine, &o.schedule,
                            &o.storage, &o.residual, &o.pivoting, &o.tuning, &o.card_shares})
    *word = in.ConsumeBool() ? nullptr : word_of(in, kept);
  for (int* flag : {&o.row_major, &o.allow_nonfinite, &o.no_check, &o.copy, &o.assume_suitable, &o.bounds, &o.history})
    *flag = in.ConsumeBool();
  for (int* wanted : {&o.condition, &o.equilibrate}) *wanted = in.ConsumeIntegralInRange(-1, 1);
  o.block_size = in.ConsumeIntegralInRange(-1, 9);
  o.threads = in.ConsumeIntegralInRange(0, 9) == 9 ? 2 : 1;
  o.accuracy = in.PickValueInArray({0.0, 0.0, 1e-15, 1e-8, -1.0, 1e300, std::nan("")});
  o.device_memory = in.PickValueInArray<lasolve_int>({0, 0, 1, 4096, -1});
  if (in.ConsumeIntegralInRange(0, 15) == 0) o.memory = lasolve_memory(7);
  if (in.ConsumeIntegralInRange(0, 15) == 0) o.size = 8 * in.ConsumeIntegralInRange<std::size_t>(0, sizeof o / 8);
  if (o.size <= offsetof(lasolve_options, row_major)) o.row_major = 0;
  if (in.ConsumeIntegralInRange(0, 15) == 0) o.progress = [](void*, double) { return 1; };
  return o;
}

}  // namespace lasolve::fuzz
