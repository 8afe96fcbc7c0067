// Options of a solve on the CPU out of bytes: each is mostly what it is by default.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>

#include "lasolve/lasolve.hpp"

namespace lasolve::fuzz {

/// `given`: bytes of A.
inline Options asked_of(FuzzedDataProvider& in, Uplo triangle, std::int64_t given) {
  Options o;
  const auto set = [&](auto& option, const auto&... values) {
    if (in.ConsumeIntegralInRange(0, 3) == 3)
      option = in.PickValueInArray({std::remove_reference_t<decltype(option)>(values)...});
  };
  const auto all = gemm_backends<Cpu>();
  o.device = {Device::cpu, 0}, o.threads = 1, o.triangle = triangle;
  if (in.ConsumeBool()) o.gemm = std::string(all[in.ConsumeIntegralInRange<std::size_t>(0, all.size() - 1)]->name);
  set(o.factorization, Method::lu, Method::cholesky, Method::lu_nopivot);
  set(o.pivoting, Pivoting::partial, Pivoting::tournament, Pivoting::none);
  set(o.schedule, Schedule::right_looking, Schedule::left_looking, Schedule::recursive, Schedule::crout);
  set(o.precision, Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16);
  set(o.storage, Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16);
  set(o.refine, Refine::none, Refine::classical, Refine::gmres);
  set(o.residual, Residual::extra);
  set(o.equilibrate, Wanted::on, Wanted::off);
  set(o.condition, Wanted::on, Wanted::off);
  set(o.block_size, 1, 2, 3, 8, 16, 33, 100, -1);
  set(o.threads, 1, 2, 3);
  set(o.accuracy, 0x1p-53, 0x1p-24, 1e-15, 1e-12, 1e-6, 0.1, 1.0);
  o.check = in.ConsumeIntegralInRange(0, 7) != 7;
  for (bool* flag : {&o.bounds, &o.history, &o.assume_suitable, &o.allow_nonfinite})
    *flag = in.ConsumeIntegralInRange(0, 3) == 3;
  const int parts = in.ConsumeIntegralInRange(0, 7);
  if (parts == 6) o.device_memory = given * in.ConsumeIntegralInRange(1, 33) / 16;
  for (int card = 0; parts == 7 && card < 5; ++card)
    if (card == 0 || in.ConsumeIntegralInRange(0, 3) > 0) o.cards.push_back(card);
  if (o.cards.size() > 1 && in.ConsumeBool())
    for (std::size_t card = 0; card < o.cards.size(); ++card) o.card_shares.push_back(in.ConsumeIntegralInRange(1, 5));
  // Sizes at which something else is done are beyond those of these systems.
  if (in.ConsumeIntegralInRange(0, 3) == 3) {
    o.tuning = tuning_of(o.device);
    const auto fields = tuning_fields();
    for (int count = in.ConsumeIntegralInRange(1, 3); count > 0; --count) {
      const TuningField& field = fields[in.ConsumeIntegralInRange<std::size_t>(0, fields.size() - 1)];
      field.of(*o.tuning) =
          std::clamp<std::int64_t>(in.PickValueInArray<std::int64_t>({0, 1, 4, 16, 60, never}), field.least, never);
    }
  }
  return o;
}

}  // namespace lasolve::fuzz
