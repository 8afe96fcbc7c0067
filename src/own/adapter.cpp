#include "own/adapter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/by_type.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve::own {

namespace {

/// Rows, columns or steps along k that are copied at once: a multiple of `unit`, and so many that a kernel has enough to do.
constexpr std::int64_t block(std::int64_t unit) { return 2048 / unit * unit; }
/// Bytes before and behind a copy, which no kernel changes: all ones, which is NaN.
constexpr std::size_t guard_bytes = 256;
constexpr int guard_byte = 0xff;

/// to ← s·X, with zeros in the rows and columns that X does not have.
template <class T>
void copy(T s, Operand<T> X, MatrixView<T> to) {
  constexpr std::int64_t step = 32;  // of both, so that each line of a transposed X is read once
  const std::int64_t m = X.rows(), n = X.cols();
  for (std::int64_t j0 = 0; j0 < n; j0 += step)
    for (std::int64_t i0 = 0; i0 < m; i0 += step) {
      const std::int64_t rows = std::min(step, m - i0);
      for (std::int64_t j = j0; j < std::min(n, j0 + step); ++j) {
        const T* const from = &X(i0, j);
        T* const column = &to(i0, j);
        if (X.op() == Op::none)
          for (std::int64_t i = 0; i < rows; ++i) column[i] = s * from[i];
        else
          for (std::int64_t i = 0; i < rows; ++i) column[i] = s * from[i * X.ld()];
      }
    }
  for (std::int64_t j = 0; j < to.cols(); ++j) {
    const std::int64_t there = j < n ? m : 0;
    std::fill_n(to.data() + j * to.ld() + there, to.rows() - there, T(0));
  }
}

/// C ← α·X + β·C for an X that may have more rows and columns; β = 0 does not read C.
template <class T>
void add(T alpha, MatrixView<T> X, T beta, MatrixView<T> C) {
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    const T* const from = &X(0, j);
    T* const to = &C(0, j);
    if (beta == T(0))
      for (std::int64_t i = 0; i < C.rows(); ++i) to[i] = alpha * from[i];
    else
      for (std::int64_t i = 0; i < C.rows(); ++i) to[i] = alpha * from[i] + beta * to[i];
  }
}

/// Memory for one copy at a time, between guards.
template <class T>
class Room {
 public:
  /// Bytes for copies of up to `elements`; whole cache lines.
  static std::size_t bytes(std::int64_t elements) {
    return std::size_t(round_up(elements * std::int64_t(sizeof(T)), 64)) + 2 * guard_bytes;
  }
  explicit Room(char* memory = nullptr) : memory_(memory) {}

  MatrixView<T> make(std::int64_t m, std::int64_t n) {
    end_ = memory_ + guard_bytes + std::size_t(m * n) * sizeof(T);
    std::memset(memory_, guard_byte, guard_bytes);
    std::memset(end_, guard_byte, guard_bytes);
    return {reinterpret_cast<T*>(memory_ + guard_bytes), m, n, m};
  }
  void require_guards() const {
    static const std::vector<char> guard(guard_bytes, char(guard_byte));
    if (end_ &&
        (std::memcmp(memory_, guard.data(), guard_bytes) != 0 || std::memcmp(end_, guard.data(), guard_bytes) != 0))
      throw std::runtime_error("the kernel wrote beside a matrix that it was given");
  }

 private:
  char* memory_;
  char* end_ = nullptr;  // where the guard behind a copy begins
};

lasolve_op c(Op op) { return op == Op::none ? LASOLVE_NONE : LASOLVE_TRANSPOSE; }

std::int64_t multiple(lasolve_int declared) { return std::max<std::int64_t>(declared, 1); }

}  // namespace

/// How C is cut for the cores, and the memory that each takes for copies.
struct Adapter::Tiles {
  double work;
  std::int64_t parts, down, rows, columns;
  std::int64_t a, b, c;  // elements of the largest copies
  template <class T>
  std::size_t bytes() const {
    return Room<T>::bytes(a) + Room<T>::bytes(b) + Room<T>::bytes(c);
  }
};

/// One core's part of a product.
template <class T>
class Adapter::Tile {
 public:
  Tile(Adapter& adapter, const Tiles& tiles, char* memory)
      : adapter_(adapter),
        kernel_(adapter.kernel_),
        a_(memory),
        b_(memory + Room<T>::bytes(tiles.a)),
        c_(memory + Room<T>::bytes(tiles.a) + Room<T>::bytes(tiles.b)) {}
  ~Tile() {
    adapter_ns_ += lap();
    adapter_.kernel_ns_ += kernel_ns_;
    adapter_.adapter_ns_ += adapter_ns_;
    adapter_.work_ |= work_;
  }
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;

  void multiply(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
    const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
    if (why_copy_A(alpha, A) == 0 && why_copy_B(B) == 0 && why_copy_C(alpha, beta, C) == 0)
      return product(alpha, A, B, beta, C, k);
    const std::int64_t rows = block(kernel_.m_multiple), columns = block(kernel_.n_multiple),
                       steps = block(kernel_.k_multiple);
    for (std::int64_t l = 0; l < k; l += steps)
      for (std::int64_t i = 0; i < m; i += rows) {
        const Operand<T> a = A.block(i, l, std::min(rows, m - i), std::min(steps, k - l));
        const Operand<T> its_a =
            as_wanted(why_copy_A(alpha, a), factor_of_A(alpha), a, a_, kernel_.m_multiple, kernel_.k_multiple);
        for (std::int64_t j = 0; j < n; j += columns) {
          const Operand<T> b = B.block(l, j, a.cols(), std::min(columns, n - j));
          const Operand<T> its_b = as_wanted(why_copy_B(b), T(1), b, b_, kernel_.k_multiple, kernel_.n_multiple);
          product(alpha, its_a, its_b, l == 0 ? beta : T(1), C.block(i, j, a.rows(), b.cols()), a.cols());
        }
      }
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool has(lasolve_kernel_limit limit) const { return adapter_.has(limit); }
  T factor_of_A(T alpha) const { return has(LASOLVE_KERNEL_ADDS) ? alpha : T(1); }

  /// Of what any matrix is copied for; 0: it is as the kernel wants it.
  unsigned why_copy(std::int64_t ld, std::int64_t rows, std::int64_t columns, bool whole) const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const bool gaps = has(LASOLVE_KERNEL_NO_GAPS) && ld != rows;
    const bool far = has(LASOLVE_KERNEL_INT_INDICES) && ld > most / columns;
    return (whole ? 0u : padding) | (gaps || far ? packing : 0u);
  }
  unsigned why_copy(Operand<T> X, std::int64_t rows, std::int64_t columns) const {
    const bool turned = has(LASOLVE_KERNEL_NO_TRANSPOSES) && X.op() == Op::transpose;
    return why_copy(X.ld(), X.stored().rows(), X.stored().cols(), X.rows() % rows == 0 && X.cols() % columns == 0) |
           (turned ? transposing : 0u);
  }
  unsigned why_copy_A(T alpha, Operand<T> A) const {
    return why_copy(A, kernel_.m_multiple, kernel_.k_multiple) | (factor_of_A(alpha) != T(1) ? scaling : 0u);
  }
  unsigned why_copy_B(Operand<T> B) const { return why_copy(B, kernel_.k_multiple, kernel_.n_multiple); }
  unsigned why_copy_C(T alpha, T beta, MatrixView<T> C) const {
    const bool whole = C.rows() % kernel_.m_multiple == 0 && C.cols() % kernel_.n_multiple == 0;
    const bool scaled = has(LASOLVE_KERNEL_ASSIGNS) && (alpha != T(1) || beta != T(0));
    return why_copy(C.ld(), C.rows(), C.cols(), whole) | (scaled ? scaling : 0u);
  }

  /// The operand itself, or where there is a reason a copy of s·X.
  Operand<T> as_wanted(unsigned why, T s, Operand<T> X, Room<T>& room, std::int64_t rows, std::int64_t columns) {
    work_ |= why;
    if (why == 0) return X;
    const MatrixView<T> to = room.make(round_up(X.rows(), rows), round_up(X.cols(), columns));
    copy(s, X, to);
    return to;
  }

  /// C ← α·A·B + β·C for A and B as the kernel wants them, of which A has taken α where the kernel adds. What of them lies beyond C,
  /// and beyond k steps, is padding: to multiply that is none of the kernel's work.
  void product(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C, std::int64_t k) {
    const double useful = work_of(C.rows(), C.cols(), k) / work_of(A.rows(), B.cols(), A.cols());
    const unsigned why = why_copy_C(alpha, beta, C);
    work_ |= why;
    const bool adds = has(LASOLVE_KERNEL_ADDS), assigns = has(LASOLVE_KERNEL_ASSIGNS);
    if (why == 0) {
      if (adds && beta != T(1)) scale(beta, C), work_ |= scaling;
      return call(alpha, A, B, beta, C, useful);
    }
    const MatrixView<T> X = c_.make(A.rows(), B.cols());
    const bool reads = beta != T(0) && !assigns;
    if (reads)
      copy(adds ? beta : T(1), Operand<T>(C), X);
    else if (adds)
      std::fill_n(X.data(), X.rows() * X.cols(), T(0));
    call(alpha, A, B, beta, X, useful);
    assigns ? add(alpha, X, beta, C) : add(T(1), X, T(0), C);
  }

  void call(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C, double useful) {
    const auto f = by_type<T>(kernel_.f64, kernel_.f32);
    adapter_ns_ += lap();
    if (has(LASOLVE_KERNEL_ROW_MAJOR))
      f(kernel_.data, c(B.op()), c(A.op()), C.cols(), C.rows(), A.cols(), alpha, B.data(), B.ld(), A.data(), A.ld(),
        beta, C.data(), C.ld());
    else
      f(kernel_.data, c(A.op()), c(B.op()), C.rows(), C.cols(), A.cols(), alpha, A.data(), A.ld(), B.data(), B.ld(),
        beta, C.data(), C.ld());
    const std::int64_t took = lap(), its = std::int64_t(useful * double(took));
    kernel_ns_ += its, adapter_ns_ += took - its;
    for (const Room<T>* room : {&a_, &b_, &c_}) room->require_guards();
  }

  /// Nanoseconds since it was last called.
  std::int64_t lap() {
    const auto before = std::exchange(since_, Clock::now());
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_ - before).count();
  }

  Adapter& adapter_;
  const lasolve_kernel& kernel_;
  Room<T> a_, b_, c_;
  Clock::time_point since_ = Clock::now();
  std::int64_t kernel_ns_ = 0, adapter_ns_ = 0;
  unsigned work_ = 0;
};

Adapter::Adapter(const lasolve_kernel& kernel) : kernel_(kernel) {
  for (lasolve_int* unit : {&kernel_.m_multiple, &kernel_.n_multiple, &kernel_.k_multiple}) *unit = multiple(*unit);
  if (has(LASOLVE_KERNEL_ROW_MAJOR)) std::swap(kernel_.m_multiple, kernel_.n_multiple);
}

/// Whether a product may need copies.
bool Adapter::copies() const {
  return (kernel_.limits & ~unsigned(LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_ONE_CALL)) != 0 ||
         std::max({kernel_.m_multiple, kernel_.n_multiple, kernel_.k_multiple}) > 1;
}

Adapter::Tiles Adapter::tiles_of(const Queue<Cpu>& q, std::int64_t m, std::int64_t n, std::int64_t k) const {
  Tiles t{};
  t.work = work_of(m, n, k);
  t.parts = has(LASOLVE_KERNEL_ONE_CALL) ? 1 : parts_for(q, t.work);
  const auto [down, across] = tile_grid(m, n, t.parts);
  const auto share = [](std::int64_t length, std::int64_t parts, std::int64_t unit) {
    return round_up(ceil_div(length, parts), std::lcm(unit, 8));
  };
  t.down = down;
  t.rows = share(m, down, kernel_.m_multiple), t.columns = share(n, across, kernel_.n_multiple);
  if (!copies()) return t;
  const auto largest = [](std::int64_t length, std::int64_t unit) {
    return round_up(std::min(length, block(unit)), unit);
  };
  const std::int64_t rows = largest(t.rows, kernel_.m_multiple), columns = largest(t.columns, kernel_.n_multiple),
                     steps = largest(k, kernel_.k_multiple);
  t.a = rows * steps, t.b = steps * columns, t.c = rows * columns;
  return t;
}

template <class T>
void Adapter::multiply(Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k == 0) return scale(beta, C);
  const Tiles tiles = tiles_of(q, m, n, k);
  const std::size_t bytes = tiles.bytes<T>();
  char* const memory = q.scratch<char>(std::int64_t(bytes), tiles.parts).data();
  on_cores(tiles.parts, tiles.work, [&](std::int64_t t) {
    const std::int64_t i = tiles.rows * (t % tiles.down), j = tiles.columns * (t / tiles.down);
    const std::int64_t rows = std::min(tiles.rows, m - i), columns = std::min(tiles.columns, n - j);
    if (rows > 0 && columns > 0)
      Tile<T>(*this, tiles, memory + std::size_t(t) * bytes)
          .multiply(alpha, A.block(i, 0, rows, k), B.block(0, j, k, columns), beta, C.block(i, j, rows, columns));
  });
}

template <class T>
void Adapter::prepare(Queue<Cpu>& q, std::int64_t m, std::int64_t n, std::int64_t k) const {
  const Tiles tiles = tiles_of(q, m, n, k);
  q.scratch<char>(std::int64_t(tiles.bytes<T>()), tiles.parts);
}

Cost Adapter::take_cost() {
  return {1e-9 * double(kernel_ns_.exchange(0)), 1e-9 * double(adapter_ns_.exchange(0)), work_.exchange(0)};
}

std::string Cost::in_words() const {
  if (work == 0) return "";
  std::vector<const char*> words;
  for (const auto& [bit, word] : {std::pair(transposing, "transposes"), std::pair(scaling, "alpha and beta"),
                                  std::pair(padding, "padding"), std::pair(packing, "packing")})
    if (work & bit) words.push_back(word);
  const double percent = 100 * adapter_seconds / (adapter_seconds + kernel_seconds);
  return fmt::format("{} of the time in its products is the adapter's: {}",
                     percent < 1 ? "less than 1 %" : fmt::format("{:.0f} %", percent), fmt::join(words, ", "));
}

#define LASOLVE_ADAPTER(T)                                                                   \
  template void Adapter::multiply(Queue<Cpu>&, T, Operand<T>, Operand<T>, T, MatrixView<T>); \
  template void Adapter::prepare<T>(Queue<Cpu>&, std::int64_t m, std::int64_t n, std::int64_t k) const;
LASOLVE_ADAPTER(double)
LASOLVE_ADAPTER(float)
#undef LASOLVE_ADAPTER

}  // namespace lasolve::own
