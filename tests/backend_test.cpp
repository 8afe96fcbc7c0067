// Which GEMM backend is used, on which device; and a backend of one's own.
#include "core/backend_table.hpp"
#include "core/choose.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

Options with(GemmChoice gemm, Device::Kind device = Device::automatic) {
  Options o;
  o.gemm = std::move(gemm);
  o.device.kind = device;
  return o;
}

TEST(Choice, on_the_cpu_is_what_was_named) {
  for (const auto* backend : backends_here<Cpu>()) {
    const Choice choice = choose(with(backend->name, Device::cpu));
    EXPECT_EQ(std::get<0>(choice.backend), backend);
    EXPECT_EQ(choice.device_name(), "cpu");
    EXPECT_TRUE(choice.notes.empty());
  }
}

TEST(Choice, of_nothing_is_the_best_that_is_there) {
  const auto* best = std::get<0>(choose(with("auto", Device::cpu)).backend);
  EXPECT_TRUE(best->name == std::string("blas") || best->name == std::string("packed")) << best->name;
  EXPECT_EQ(choose(with("auto")).device_name(), why_no_cuda_device(0).empty() ? "cuda:0" : "cpu");
}

TEST(Choice, of_nothing_is_one_that_has_the_precision) {
  for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::fp32}) {
    Options o = with("auto", Device::cpu);
    o.precision = precision;
    EXPECT_TRUE(choose(o).offers(find_solve_precision(precision)->products)) << name_of(precision);
  }
}

TEST(Choice, of_nothing_is_the_fastest_as_measured) {
  const auto measured = backend_table<Cpu>().measured();
  ASSERT_GE(measured.size(), 2u);
  for (std::size_t i = 1; i < measured.size(); ++i) EXPECT_GE(measured[i - 1].reached, measured[i].reached);
  const auto* best = std::get<0>(choose(with("auto", Device::cpu)).backend);
  for (const auto& entry : measured) {
    if (entry.record == best) break;
    ASSERT_TRUE(entry.record->unavailable);
    EXPECT_NE(entry.record->unavailable(0), "") << entry.file;
  }
}

TEST(Choice, of_a_rung_that_cuda_has_but_this_machine_has_not_is_the_cpu_and_says_so) {
  if (why_no(Device::cuda).empty()) GTEST_SKIP() << "there is a CUDA device";
  const Choice choice = choose(with("tiled"));
  EXPECT_EQ(choice.device_name(), "cpu");
  if (gemm_backends<Cuda>().empty()) {  // this build has it for the CPU alone, which is no news
    EXPECT_TRUE(choice.notes.empty());
    return;
  }
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_TRUE(says(choice.notes[0], "the CPU's 'tiled' was used"));
  EXPECT_TRUE(says(choice.notes[0], why_no(Device::cuda)));
}

TEST(Choice, of_a_backend_that_is_not_in_this_build_says_what_it_needs) {
  for (const MissingBackend& missing : missing_gemm_backends()) {
    if (missing.device != std::string("cpu")) continue;
    EXPECT_TRUE(says(complaint_of<MachineError>([&] { choose(with(missing.name, Device::cpu)); }), missing.needs));
  }
}

TEST(Choice, of_all_is_every_backend_that_runs_there) {
  const auto names = runnable_backends({Device::cpu});
  for (const auto* backend : gemm_backends<Cpu>())
    EXPECT_TRUE(backend->unavailable || std::count(names.begin(), names.end(), backend->name)) << backend->name;
  EXPECT_THROW(choose(with("all")), UnknownName);
  for (const auto& name : runnable_backends({Device::cpu}, Precision::fp16))
    EXPECT_TRUE(choose(with(name, Device::cpu)).offers(Precision::fp16)) << name;
}

TEST(Choice, of_a_short_word_proposes_none_that_has_little_of_it) {
  const std::vector<std::string> methods = {"auto", "lu", "cholesky"}, formats = {"mtx", "csv", "tsv"};
  EXPECT_EQ(did_you_mean("qr", methods), "");
  EXPECT_EQ(did_you_mean("fp16", {"fp64", "fp32", "tf32"}), "");
  EXPECT_EQ(did_you_mean("cvs", formats), "; did you mean 'csv'?");
  EXPECT_EQ(did_you_mean("ch", methods), "; did you mean 'cholesky'?");
  EXPECT_EQ(did_you_mean("", methods), "");
}

TEST(Choice, of_an_unknown_name_proposes_a_known_one) {
  for (const auto& [wrong, right] : {std::pair("tilde", "tiled"), {"naiv", "naive"}, {"Coalesced", "coalesced"}}) {
    Options o;
    o.gemm = wrong;
    const auto factor = [&] { solve_random(random_matrix(5, 5), 1, o); };
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>(factor), std::string("did you mean '") + right + "'"));
  }
}

TEST(Choice, of_a_device_that_is_not_there_is_an_error_of_the_machine_and_says_why) {
  Options o;
  o.device = {Device::cuda, 99};
  const std::string complaint = complaint_of<MachineError>([&] { solve_random(random_matrix(5, 5), 1, o); });
  EXPECT_TRUE(says(complaint, cuda_devices().names.empty() ? cuda_devices().why_none : "there is no cuda:99"));
  EXPECT_TRUE(cuda_devices().names.empty() != cuda_devices().why_none.empty());
}

/// Counts its calls.
int calls = 0;
template <class T>
void counting(const void*, Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  ++calls;
  some_backend<Cpu>()(q, alpha, A, B, beta, C);
}
constexpr GemmBackend<Cpu> own{"own", "counts its calls", counting<double>};

TEST(PluginBackend, is_called_for_the_bulk_of_the_work) {
  Options o;
  o.gemm = &own;
  for (const Method method : {Method::lu, Method::cholesky}) {
    o.factorization = method;
    calls = 0;
    const auto solved = solve_random(random_with_condition(300, 10, true), 16, o);
    expect_solved(solved);
    EXPECT_EQ(solved.report.gemm, "own");
    EXPECT_EQ(solved.report.device, "cpu");
    EXPECT_GT(calls, 3);
  }
}

/// What a kernel is told of an operand.
TEST(Operands, of_real_elements_are_never_conjugated) {
  const Matrix<double> A(2, 3);
  EXPECT_EQ(Operand<double>(A.view(), Op::conjugate_transpose).op(), Op::transpose);
  EXPECT_EQ(flipped(Op::conjugate_transpose), Op::none);
}

/// What a backend was asked for.
struct Asked {
  mutable int products = 0, rooms = 0;
};
void asked(const void* self, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
           MatrixView<double> C) {
  ++static_cast<const Asked*>(self)->products;
  some_backend<Cpu>()(q, alpha, A, B, beta, C);
}
void asked_for_room(const void* self, Queue<Cpu>&, const ProductShape&) { ++static_cast<const Asked*>(self)->rooms; }

TEST(PluginBackend, is_handed_what_its_record_has_beside_functions) {
  Asked of_large, of_small;
  GemmBackend<Cpu> large{
      .name = "large", .summary = "", .kernels = asked, .self = &of_large, .prepare = asked_for_room};
  GemmBackend<Cpu> small = large;
  small.self = &of_small, large.small = &small, large.small_below = 1e6;
  Options o;
  o.gemm = &large;
  const Matrix<double> A = random_matrix(400, 400);
  const Report report = Factorization<double>(A.view(), o).report();
  ASSERT_EQ(report.products_of.size(), 2u);
  EXPECT_EQ(of_large.products, report.products_of[0].count.calls);
  EXPECT_EQ(of_small.products, report.products_of[1].count.calls);
  EXPECT_TRUE(of_large.products > 0 && of_small.products > 0 && of_large.rooms > 0);
  Queue<Cpu> q(1);
  of_large.rooms = of_small.rooms = 0;
  Gemm<double, Cpu>(large).prepare(q, Op::none, Op::none, 8, 8, 8);
  EXPECT_EQ(of_small.rooms, 1);
  EXPECT_EQ(of_large.rooms, 0);
}

TEST(PluginBackend, is_of_the_precisions_that_its_functions_say) {
  constexpr GemmBackend<Cpu> both{.name = "both", .summary = "", .kernels = {counting<float>, counting<double>}};
  constexpr GemmBackend<Cpu> coarse{
      .name = "coarse", .summary = "", .kernels = GemmKernel<Precision::tf32, Cpu>(counting<float>, 0x1p-10)};
  for_each_precision([&](auto P) {
    EXPECT_EQ(offers(both, P), P == Precision::fp64 || P == Precision::fp32) << name_of(P());
    EXPECT_EQ(offers(coarse, P), P == Precision::tf32) << name_of(P());
  });
  EXPECT_EQ(both.in<Precision::fp64>().unit_roundoff, 0x1p-53);
  EXPECT_EQ(coarse.in<Precision::tf32>().unit_roundoff, 0x1p-10);
}

/// Packs (m + n)·k elements, for which it wants room before it is called.
double room = 0;
template <class T>
void packing(const void*, Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  EXPECT_LE(double(C.rows() + C.cols()) * double(A.cols()), room) << C.rows() << " × " << C.cols() << " × " << A.cols();
  counting(nullptr, q, alpha, A, B, beta, C);
}
void make_room(const void*, Queue<Cpu>&, const ProductShape& p) {
  EXPECT_EQ(p.precision, Precision::fp64);
  room = std::max(room, double(p.m + p.n) * double(p.k));
}
constexpr GemmBackend<Cpu> prepared{
    .name = "prepared", .summary = "wants room", .kernels = packing<double>, .prepare = make_room};

TEST(PluginBackend, is_told_beforehand_how_large_products_will_be) {
  Options o;
  o.gemm = &prepared;
  o.check = false;
  for (const Method method : {Method::lu, Method::cholesky})
    for (const Schedule schedule : schedules)
      for (const std::int64_t n : {50, 300, 501})
        for (const std::int64_t nb : {0, 32, 64, 100, 170}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb << ", schedule " << int(schedule));
          o.factorization = method;
          o.schedule = schedule;
          o.block_size = nb;
          room = 0;
          const Matrix<double> A = random_with_condition(n, 10, true);
          EXPECT_TRUE(Factorization<double>(A.view(), o).report().outcome.ok());
        }
}

constexpr GemmBackend<Cpu> f32_only{.name = "f32_only", .summary = "", .kernels = counting<float>};

TEST(PluginBackend, of_fp32_alone_serves_fp32_factors_and_does_not_fall_back) {
  Options o;
  o.gemm = &f32_only;
  o.precision = Precision::fp32;
  expect_solved(solve_random(random_matrix(300, 300), 2, o));
  const auto hard = solve_random(random_with_condition(200, 1e12), 2, o);
  EXPECT_EQ(hard.report.outcome.kind, Outcome::not_converged);
  EXPECT_EQ(hard.report.precision, Precision::fp32);
}

/// What it is given, in operations.
double least_flops = 0, most_flops = 0, small_flops = 0;
void large_ones(const void*, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
                MatrixView<double> C) {
  const double flops = 2.0 * double(C.rows()) * double(C.cols()) * double(A.cols());
  least_flops = std::min(least_flops, flops);
  counting(nullptr, q, alpha, A, B, beta, C);
}
void small_ones(const void*, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
                MatrixView<double> C) {
  const double flops = 2.0 * double(C.rows()) * double(C.cols()) * double(A.cols());
  most_flops = std::max(most_flops, flops), small_flops += flops;
  some_backend<Cpu>()(q, alpha, A, B, beta, C);
}
constexpr GemmBackend<Cpu> for_small{"for_small", "", small_ones};

TEST(PluginBackend, leaves_small_products_to_another) {
  constexpr double below = 1e6;
  GemmBackend<Cpu> both{"large", "", large_ones};
  both.small = &for_small, both.small_below = below;
  Options o;
  o.gemm = &both;
  for (const Method method : {Method::lu, Method::cholesky})
    for (const Schedule schedule : schedules) {
      o.factorization = method, o.schedule = schedule;
      least_flops = 1e300, most_flops = small_flops = 0, calls = 0;
      const Matrix<double> A = random_with_condition(400, 10, true);
      const Report report = Factorization<double>(A.view(), o).report();
      ASSERT_TRUE(report.outcome.ok());
      EXPECT_GE(least_flops, below);
      EXPECT_LT(most_flops, below);
      EXPECT_EQ(report.gemm, "large");
      ASSERT_EQ(report.products_of.size(), 2u);
      EXPECT_EQ(report.small_below, below);
      EXPECT_EQ(report.products_of[0].gemm, "large");
      EXPECT_EQ(report.products_of[0].count.calls, calls);
      EXPECT_EQ(report.products_of[1].gemm, "for_small");
      EXPECT_GT(report.products_of[1].count.calls, 0);
      EXPECT_DOUBLE_EQ(report.products_of[1].count.flops, small_flops);
      expect_solved(solve_random(A, 3, o));
    }
  const auto solved = solve_random(random_matrix(100, 100), 2, o);
  EXPECT_EQ(solved.report.products_of.size(), 2u) << "a report of a solve tells of its factorization";
}

TEST(PluginBackend, keeps_small_products_where_the_other_does_not_offer_the_precision) {
  GemmBackend<Cpu> both{"large", "", counting<double>};
  both.small = &f32_only, both.small_below = 1e300;
  Options o;
  o.gemm = &both;
  calls = 0;
  const auto solved = solve_random(random_matrix(300, 300), 2, o);
  expect_solved(solved);
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(solved.report.products_of.empty());
}

TEST(PluginBackend, is_refused_where_it_cannot_be_called) {
  const Matrix<double> A = random_matrix(100, 100);
  const auto factor_with = [&](const GemmBackend<Cpu>* backend, Device::Kind device = Device::automatic) {
    Options o;
    o.gemm = backend;
    o.device.kind = device;
    Factorization<double>(A.view(), o);
  };
  EXPECT_NO_THROW(factor_with(&own));
  EXPECT_THROW(factor_with(&own, Device::cuda), std::invalid_argument);
  EXPECT_THROW(factor_with(nullptr), std::invalid_argument);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factor_with(&f32_only); }), "products in fp64"));
  const GemmBackend<Cpu> picky{.name = "picky", .summary = "", .kernels = counting<double>, .unavailable = [](int) {
                                 return std::string("the moon is not full");
                               }};
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { factor_with(&picky); }), "the moon is not full"));
  GemmBackend<Cpu> both = own;
  both.small = &picky;
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { factor_with(&both); }), "the moon is not full"));
}

}  // namespace
}  // namespace lasolve::test
