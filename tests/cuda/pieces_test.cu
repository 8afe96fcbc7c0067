// Pieces of a matrix that a caller's stream is still writing: in the card's memory, over cards and out of core.
#include "core/current_device.hpp"
#include "lasolve/pieces.hpp"
#include "late.cuh"

namespace lasolve::test::pieces_test {
namespace {

/// One that no default stream waits for.
class StreamOfCaller {
 public:
  StreamOfCaller() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~StreamOfCaller() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct PiecesOnCuda : testing::Test {
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};

/// The left half is on the card, zeros at first; the right one on the host.
void expect_late_piece_is_waited_for(const Options& o, std::int64_t n, bool out_of_core) {
  SCOPED_TRACE(testing::Message() << "n = " << n << ", " << o.cards.size() << " cards, out of core " << out_of_core);
  Queue<Cuda> q(0);
  const Matrix<double> A = random_matrix(n, n, 1), B = random_matrix(n, 2, 2);
  const Matrix<double> left = matrix_of<double>(n, n / 2, [&](auto i, auto j) { return A(i, j); });
  Matrix<double> one(n, 2);
  const Matrix<double, Cuda> written = upload(q, left), b = upload(q, B);
  Matrix<double, Cuda> late = upload(q, matrix_of<double>(n, n / 2, [](auto, auto) { return 0; })), X = upload(q, B);
  EXPECT_TRUE(Factorization<double>(A.view(), o).solve(B, one).outcome.ok());  // and all kernels have been loaded
  const std::vector<Borrowed<const double>> pieces = {std::as_const(late).view(), A.view().columns(n / 2, n - n / 2)};
  const StreamOfCaller stream;
  CUDA_CHECK(cudaDeviceSynchronize());
  copy_late<<<1, 256, 0, stream.get()>>>(late.data(), written.data(), late.ld() * late.cols(), late_by);
  CUDA_CHECK(cudaPeekAtLastError());
  EXPECT_TRUE(is_busy(stream.get())) << "nothing is late";
  Factorization<double> factors = factor_pieces(pieces, o, stream.get());
  EXPECT_EQ(notes_of(factors.report()).find("out of core") != std::string::npos, out_of_core);
  EXPECT_TRUE(factors.solve(b.view(), X.view(), Op::none, stream.get()).outcome.ok());
  EXPECT_TRUE(same_bits(download(q, X), one) || o.cards.empty());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(q, X))), hpl_threshold);
}

TEST_F(PiecesOnCuda, are_read_when_the_stream_that_is_named_has_written_them) {
  Options o;
  o.device = {Device::cuda, 0}, o.factorization = Method::lu;
  for (const std::int64_t n : {200, 700}) {
    o.cards = {}, o.device_memory = 0;
    expect_late_piece_is_waited_for(o, n, false);
    o.device_memory = n * n * 8;
    expect_late_piece_is_waited_for(o, n, true);
    o.device_memory = 0, o.cards = {0, 0};
    expect_late_piece_is_waited_for(o, n, false);
  }
}

TEST_F(PiecesOnCuda, are_factored_out_of_core) {
  Queue<Cuda> q(0);
  const std::int64_t n = 1500;
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 3);
  Matrix<double> one(n, 3), X(n, 3);
  std::vector<Matrix<double, Cuda>> there;
  std::vector<Borrowed<const double>> pieces;
  for (const std::int64_t first : {0, 500, 1100}) {
    const auto from = A.view().columns(first, first == 0 ? 500 : first == 500 ? 600 : 400);
    if (first == 500) {
      pieces.emplace_back(from);  // on the host
      continue;
    }
    there.emplace_back(n, from.cols(), n + 3);
    copy<double>(q, from, there.back().view());
    q.finish();
    pieces.emplace_back(std::as_const(there.back()).view());
  }
  for (const Method method : {Method::lu, Method::automatic})
    for (const Precision precision : {Precision::fp64, Precision::fp32})
      for (const Op op : {Op::none, Op::transpose}) {
        Options o;
        o.device = {Device::cuda, 0}, o.factorization = method, o.precision = precision;
        o.device_memory = n * n * 5;
        EXPECT_TRUE(Factorization<double>(A.view(), o).solve(B, one, op).outcome.ok());
        Factorization<double> factors = factor_pieces(pieces, o);
        EXPECT_TRUE(says(notes_of(factors.report()), "out of core"));
        EXPECT_TRUE(factors.solve(B, X, op).outcome.ok());
        EXPECT_TRUE(same_bits(X, one)) << "as of one matrix";
        EXPECT_EQ(factors.report().cards.size(), 1U);
      }
}

}  // namespace
}  // namespace lasolve::test::pieces_test
