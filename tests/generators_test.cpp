// Matrices from formulas: deterministic, what their names say, and the same bits on the CPU and on CUDA.
#include "io/generators.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/SVD>
#include <fstream>

#include "core/cpu/eigen.hpp"
#include "core/spread.hpp"
#include "core/symmetric.hpp"
#include "devices.hpp"

namespace lasolve {
namespace {

using io::Generator;

const char* const all_kinds[] = {"uniform:n=64,seed=3", "spd:n=64",    "randsvd:n=64,kappa=1e4", "diagdom:n=64",
                                 "growth:n=64",         "graded:n=64", "hilbert:n=64",           "bem:n=64"};

Matrix<double> made(const std::string& text) {
  const Generator generator(text);
  Matrix<double> A(generator.n(), generator.n());
  Queue<Cpu> q(2);
  io::generate(q, generator, A);
  return A;
}

bool equal(const Matrix<double>& A, const Matrix<double>& B) { return as_eigen(A.view()) == as_eigen(B.view()); }

TEST(Generators, give_the_same_for_the_same_seed_only) {
  for (const char* kind : all_kinds) EXPECT_TRUE(equal(made(kind), made(kind))) << kind;
  EXPECT_FALSE(equal(made("uniform:n=10,seed=1"), made("uniform:n=10,seed=2")));
}

TEST(Generators, are_what_they_are_called) {
  for (const char* kind : {"spd:n=20", "hilbert:n=20", "bem:n=25"}) {
    const Matrix<double> A = made(kind);
    EXPECT_TRUE(as_eigen(A.view()) == as_eigen(A.view()).transpose()) << kind;
  }
  const Matrix<double> A = made("randsvd:n=30,kappa=1e4");
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(as_eigen(A.view())).singularValues();
  EXPECT_NEAR(values(0) / values(29), 1e4, 1e-6);
  EXPECT_EQ(made("hilbert:n=3")(1, 2), 1.0 / 4);
  EXPECT_EQ(made("growth:n=3")(2, 0), -1);
}

TEST(Generators, say_what_is_wrong_with_a_request) {
  for (const auto& [text, message] : {std::pair("unform:n=3", "did you mean 'uniform'?"),
                                      {"uniform", "expected a positive size"},
                                      {"uniform:n=x", "expected a size after n=, found 'x'"},
                                      {"uniform:n=3,sed=1", "'sed' is not a parameter"},
                                      {"uniform:n=5,n=6", "n is given twice\n  uniform:n=5,n=6\n              ^"},
                                      {"graded:n=5,bits=3,seed=1,bits=3", "bits is given twice"},
                                      {"uniform:n=5,", "'' is not a parameter of uniform"},
                                      {"uniform:", "expected a positive size"},
                                      {"graded:n=5,bits=2000", "expected bits from 0 to 1000"},
                                      {"randsvd:n=5,kappa=ten", "found 'ten'"},
                                      {"bem:n=5", "a square number"},
                                      {"randsvd:n=5,kappa=0", "kappa of 1 or more"}}) {
    try {
      Generator generator(text);
      ADD_FAILURE() << text;
    } catch (const io::GeneratorError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  }
}

/// Bytes that this process has of the machine's memory.
double resident_bytes() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return double(resident) * double(sysconf(_SC_PAGESIZE));
}

TEST(Generators, have_no_sums_of_rows_of_what_is_in_no_memory_as_a_whole) {
  Queue<Cpu> q(1);
  const SystemMatrix<double, Cpu> A = SpreadOperand<double, Cpu>{};
  EXPECT_THROW(io::row_sums(q, A), std::logic_error);
}

TEST(Generators, take_no_memory_and_no_time_before_there_is_memory_for_the_matrix) {
  for (const std::string kind : {"uniform", "spd", "randsvd", "diagdom", "growth", "graded", "hilbert", "bem"}) {
    const double before = resident_bytes();
    const Generator generator(kind + ":n=100000000");
    EXPECT_THROW(io::require_memory<Cpu>(generator, 8), OutOfMemory) << kind;
    EXPECT_LT(resident_bytes() - before, 1e7) << kind;
  }
}

TEST(GeneratorsOnCuda, give_the_same_bits_as_on_the_cpu) {
  if (const std::string why = why_no_cuda_device(0); !why.empty()) GTEST_SKIP() << why;
  for (const char* kind : all_kinds) {
    Queue<Cuda> q(0);
    Matrix<double, Cuda> A(64, 64);
    io::generate(q, Generator(kind), A);
    Matrix<double> back(64, 64);
    copy<double>(q, A, back);
    q.finish();
    EXPECT_TRUE(equal(back, made(kind))) << kind;
    for (std::int64_t j = 0; j < 64; j += 24) {  // and a few columns at a time
      const std::int64_t some = std::min<std::int64_t>(24, 64 - j);
      io::generate(q, Generator(kind), A.view().columns(j, some), j);
    }
    copy<double>(q, A, back);
    q.finish();
    EXPECT_TRUE(equal(back, made(kind))) << kind << ", by columns";
  }
}

}  // namespace
}  // namespace lasolve
