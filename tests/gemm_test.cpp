// The conformance of every GEMM backend in the table: a new kernel is tested with no edit here.
#include <gtest/gtest.h>

#include <set>

#include "conforming.hpp"
#include "core/backend_table.hpp"
#include "devices.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

/// One precision of one backend and one group of products.
struct ConformanceCase {
  std::string name, summary;
  std::function<std::string()> why_not;  ///< empty: it can run here
  std::function<void()> run;

  friend void PrintTo(const ConformanceCase& c, std::ostream* out) { *out << c.summary; }
};

/// Those whose elements are less right than their norms, each with why. Validation says so of those of them that take part.
const std::set<std::string> keep_to_norms = {"tensor_split"};  // one exponent a row of op(A) and a column of op(B)

template <Precision P, class Space>
void expect_graded(const GemmKernel<P, Space>& kernel, const GemmBackend<Space>& backend) {
  const Queue<Cpu> host(1);
  Queue<Space> q = test_queue<Space>();
  bench::Validation<P, Space> validation(q, host, kernel);
  for (const bench::Case& c : bench::graded_cases())
    if (const auto fault = validation(c)) ADD_FAILURE() << said_of(*fault);
  EXPECT_EQ(validation.grade().is_met(), keep_to_norms.count(backend.name) == 0)
      << "it " << bench::what_is_lost(validation.grade());
}

template <class Space>
std::vector<ConformanceCase> conformance_cases() {
  std::vector<ConformanceCase> all;
  for (const auto* backend : gemm_backends<Space>())
    for_each_precision([&](auto P) {
      const auto kernel = backend->template in<P>();
      if (!kernel) return;
      const auto why_not = [backend] {
        const std::string no_device = why_no(device_of<Space>);
        return no_device.empty() && backend->unavailable ? backend->unavailable(0) : no_device;
      };
      all.push_back({backend->name + std::string("_") + name_of(P()) + "_grade", backend->summary, why_not,
                     [=] { expect_graded<P, Space>(kernel, *backend); }});
      for (const bench::Group& group : bench::conformance_list(P, device_of<Space>)) {
        const auto run = [kernel, cases = group.cases] {
          Queue<Space> q = test_queue<Space>();
          expect_right(q, kernel, cases);
        };
        all.push_back(
            {backend->name + std::string("_") + name_of(P()) + "_" + group.name, backend->summary, why_not, run});
      }
    });
  return all;
}

class Gemm : public testing::TestWithParam<ConformanceCase> {};
std::string name_of_case(const testing::TestParamInfo<ConformanceCase>& info) { return info.param.name; }

TEST_P(Gemm, keeps_to_the_contract) {
  if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  GetParam().run();
}

INSTANTIATE_TEST_SUITE_P(Cpu, Gemm, testing::ValuesIn(conformance_cases<Cpu>()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cuda, Gemm, testing::ValuesIn(conformance_cases<Cuda>()), name_of_case);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Gemm);

template <class Space>
void expect_complete_records() {
  std::set<std::string> names;
  for (const auto* backend : gemm_backends<Space>()) {
    SCOPED_TRACE(backend->name);
    EXPECT_STRNE(backend->name, "");
    EXPECT_STRNE(backend->summary, "");
    EXPECT_TRUE(names.insert(backend->name).second) << "the name is not unique";
    bool offers = false;
    for_each_precision([&](auto P) {
      offers = offers || backend->template in<P>();
      EXPECT_GE(backend->template in<P>().unit_roundoff, Arithmetic<P>::unit_roundoff);
    });
    EXPECT_TRUE(offers) << "no precision";
  }
  for (const char* rung : {"naive", "coalesced", "tiled"})
    EXPECT_TRUE(names.empty() || names.contains(rung)) << "the ladder has no " << rung;
}

TEST(GemmTable, has_complete_records_on_the_cpu) {
  EXPECT_FALSE(gemm_backends<Cpu>().empty());
  expect_complete_records<Cpu>();
}
TEST(GemmTable, has_complete_records_on_Cuda) { expect_complete_records<Cuda>(); }

TEST(GemmTable, has_a_name_once_and_in_the_file_that_is_named_so) {
  const GemmBackend<Cpu> one{.name = "one", .summary = ""}, same{.name = "one", .summary = ""},
      two{.name = "two", .summary = ""};
  BackendTable<Cpu> table{{"one", &one}, {"two", &two}};
  EXPECT_EQ(table.records().size(), 2u);
  const auto twice = [&] { table.add({"one", &same}); };
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>(twice), "there are two GEMM backends 'one'"));
  const auto elsewhere = [&] { BackendTable<Cpu>{{"three", &one}}; };
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>(elsewhere), "'one' is in a file named 'three'"));
  EXPECT_EQ(table.records().size(), 2u);
}

TEST(GemmTable, says_what_missing_backends_need) {
  for (const auto& missing : missing_gemm_backends()) EXPECT_STRNE(missing.needs, "") << missing.name;
}

TEST(GemmBackend, refuses_sizes_that_do_not_agree_and_types_that_are_not_offered) {
  Queue<Cpu> q(1);
  const GemmBackend<Cpu>& gemm = some_backend<Cpu>();
  Matrix<double> A = random_matrix(3, 4), B = random_matrix(4, 5), C = random_matrix(3, 5);
  EXPECT_NO_THROW(gemm(q, 1.0, A.view(), B.view(), 0.0, C.view()));
  EXPECT_THROW(gemm(q, 1.0, B.view(), A.view(), 0.0, C.view()), std::invalid_argument);
  EXPECT_THROW(gemm(q, 1.0, transposed(A.view()), B.view(), 0.0, C.view()), std::invalid_argument);
  EXPECT_THROW((GemmBackend<Cpu>{"none", "offers nothing"})(q, 1.0, A.view(), B.view(), 0.0, C.view()),
               std::invalid_argument);
}

}  // namespace
}  // namespace lasolve::test
