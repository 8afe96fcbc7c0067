#include "plugin/adapter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "core/by_type.hpp"
#include "core/kernel_calls.hpp"
#include "core/kernel_fault.hpp"
#include "plugin/float_state.hpp"

namespace lasolve::plugin {

namespace {

/// Memory for one copy at a time, between guards.
template <class T, class Space>
class Room {
 public:
  /// Bytes for copies of up to `elements`, in lines of memory.
  static std::size_t bytes(std::int64_t elements, std::int64_t alignment) {
    return std::size_t(round_up(elements * std::int64_t(sizeof(T)), line)) + 2 * guard_bytes +
           std::size_t(at_least_line(alignment));
  }
  Room(Queue<Space>& q, char* memory, std::int64_t alignment)
      : q_(q), memory_(memory), alignment_(at_least_line(alignment)) {}

  MatrixView<T, Space> make(std::int64_t m, std::int64_t n, std::int64_t ld) {
    const auto first = round_up(std::int64_t(reinterpret_cast<std::uintptr_t>(memory_) + guard_bytes), alignment_);
    char* const elements = memory_ + (std::size_t(first) - reinterpret_cast<std::uintptr_t>(memory_));
    guards_ = {elements - guard_bytes, elements + std::size_t(ld * n) * sizeof(T)};
    write_guards(q_, guards_);
    return {reinterpret_cast<T*>(elements), m, n, ld};
  }
  /// Of the copy that is there.
  Guards guards() const { return guards_; }

 private:
  static constexpr std::int64_t line = 256;  // of memory
  static std::int64_t at_least_line(std::int64_t alignment) { return std::max(alignment, line); }

  Queue<Space>& q_;
  char* memory_;
  std::int64_t alignment_;
  Guards guards_;
};

template <class T>
std::size_t bytes_of(const Tiling& tiling, std::int64_t alignment) {
  using AnyRoom = Room<T, Cpu>;
  return AnyRoom::bytes(tiling.a, alignment) + AnyRoom::bytes(tiling.b, alignment) +
         AnyRoom::bytes(tiling.c, alignment);
}

/// What the kernel has thrown, as its own.
[[noreturn]] void throw_on() {
  try {
    throw;
  } catch (const std::bad_alloc&) {  // the machine's
    throw;
  } catch (const std::exception& e) {
    throw KernelFault(fmt::format("threw: {}", e.what()));
  } catch (...) {
    throw KernelFault("threw what is no std::exception");
  }
}

/// Elements at multiples of which columns begin.
template <class T>
std::int64_t line_of(const lasolve_kernel& kernel) {
  return std::max<std::int64_t>(kernel.alignment / std::int64_t(sizeof(T)), 1);
}

lasolve_op c(Op op) { return op == Op::none ? LASOLVE_NONE : LASOLVE_TRANSPOSE; }

}  // namespace

/// One part of a product.
template <class Space>
template <class T>
class Adapter<Space>::Part {
 public:
  Part(Adapter& adapter, Queue<Space>& q, const Tiling& tiling, char* memory)
      : adapter_(adapter),
        kernel_(adapter.kernel_),
        q_(q),
        tiling_(tiling),
        a_(q, memory, alignment()),
        b_(q, memory += Room<T, Space>::bytes(tiling.a, alignment()), alignment()),
        c_(q, memory += Room<T, Space>::bytes(tiling.b, alignment()), alignment()),
        account_(q, adapter.ledger_, adapter.manner()) {}
  ~Part() { adapter_.work_ |= work_; }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  void multiply(T alpha, In<T> A, In<T> B, T beta, Out<T> C) {
    const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
    const auto [rows, columns, steps] = tiling_.block;
    const bool at_once = !tiling_.limited || (m <= rows && n <= columns && k <= steps);
    if (at_once && why_copy_A(alpha, A) == 0 && why_copy_B(B) == 0 && why_copy_C(alpha, beta, C) == 0)
      return product(alpha, A, B, beta, C, k);
    for (std::int64_t l = 0; l < k; l += steps)
      for (std::int64_t i = 0; i < m; i += rows) {
        const In<T> a = A.block(i, l, std::min(rows, m - i), std::min(steps, k - l));
        const In<T> its_a =
            as_wanted(why_copy_A(alpha, a), factor_of_A(alpha), a, a_, tiling_.units.rows, tiling_.units.steps);
        for (std::int64_t j = 0; j < n; j += columns) {
          const In<T> b = B.block(l, j, a.cols(), std::min(columns, n - j));
          const In<T> its_b = as_wanted(why_copy_B(b), T(1), b, b_, tiling_.units.steps, tiling_.units.columns);
          product(alpha, its_a, its_b, l == 0 ? beta : T(1), C.block(i, j, a.rows(), b.cols()), a.cols());
        }
      }
  }

 private:
  bool has(lasolve_kernel_limit limit) const { return adapter_.has(limit); }
  T factor_of_A(T alpha) const { return has(LASOLVE_KERNEL_ADDS) ? alpha : T(1); }

  std::int64_t alignment() const { return kernel_.alignment; }
  /// The leading dimension of a copy.
  std::int64_t ld_for(std::int64_t rows) const {
    return has(LASOLVE_KERNEL_NO_GAPS) ? rows : round_up(rows, line_of<T>(kernel_));
  }
  bool is_aligned(const void* first, std::int64_t ld) const {
    const bool begins = reinterpret_cast<std::uintptr_t>(first) % std::uintptr_t(alignment()) == 0;
    return begins && (has(LASOLVE_KERNEL_NO_GAPS) || ld % line_of<T>(kernel_) == 0);
  }

  /// Of what any matrix is copied for; 0: it is as the kernel wants it.
  unsigned why_copy(const void* first, std::int64_t ld, std::int64_t rows, std::int64_t columns, bool whole) const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const bool gaps = has(LASOLVE_KERNEL_NO_GAPS) && ld != rows;
    const bool far = has(LASOLVE_KERNEL_INT_INDICES) && ld > most / columns;
    return (whole ? 0u : padding) | (gaps || far ? packing : 0u) | (is_aligned(first, ld) ? 0u : aligning);
  }
  unsigned why_copy(In<T> X, std::int64_t rows, std::int64_t columns) const {
    const bool turned = has(LASOLVE_KERNEL_NO_TRANSPOSES) && X.op() == Op::transpose;
    return why_copy(X.data(), X.ld(), X.stored().rows(), X.stored().cols(),
                    X.rows() % rows == 0 && X.cols() % columns == 0) |
           (turned ? transposing : 0u);
  }
  unsigned why_copy_A(T alpha, In<T> A) const {
    return why_copy(A, tiling_.units.rows, tiling_.units.steps) | (factor_of_A(alpha) != T(1) ? scaling : 0u);
  }
  unsigned why_copy_B(In<T> B) const { return why_copy(B, tiling_.units.steps, tiling_.units.columns); }
  unsigned why_copy_C(T alpha, T beta, Out<T> C) const {
    const bool whole = C.rows() % tiling_.units.rows == 0 && C.cols() % tiling_.units.columns == 0;
    const bool scaled = has(LASOLVE_KERNEL_ASSIGNS) && (alpha != T(1) || beta != T(0));
    return why_copy(C.data(), C.ld(), C.rows(), C.cols(), whole) | (scaled ? scaling : 0u);
  }

  /// The operand itself, or where there is a reason a copy of s·X.
  In<T> as_wanted(unsigned why, T s, In<T> X, Room<T, Space>& room, std::int64_t rows, std::int64_t columns) {
    work_ |= why;
    if (why == 0) return X;
    const std::int64_t m = round_up(X.rows(), rows);
    const Out<T> to = room.make(m, round_up(X.cols(), columns), ld_for(m));
    copy_scaled(q_, s, X, to);
    return to;
  }

  /// C ← α·A·B + β·C for A and B as the kernel wants them, of which A has taken α where the kernel adds. What of them lies beyond C,
  /// and beyond k steps, is padding: to multiply that is none of the kernel's work.
  void product(T alpha, In<T> A, In<T> B, T beta, Out<T> C, std::int64_t k) {
    const double useful = work_of(C.rows(), C.cols(), k) / work_of(A.rows(), B.cols(), A.cols());
    const unsigned why = why_copy_C(alpha, beta, C);
    work_ |= why;
    const bool adds = has(LASOLVE_KERNEL_ADDS), assigns = has(LASOLVE_KERNEL_ASSIGNS);
    if (why == 0) {
      if (adds && beta != T(1)) plugin::scale(q_, beta, C), work_ |= scaling;
      return call(alpha, A, B, beta, C, C, useful, !adds && beta == T(0));
    }
    const Out<T> X = c_.make(A.rows(), B.cols(), ld_for(A.rows()));
    const bool reads = beta != T(0) && !assigns;
    const bool spoiled = !reads && !adds && KernelCalls::here().are_kept();  // what was there may look right
    if (reads)
      copy_scaled(q_, adds ? beta : T(1), In<T>(C), X);
    else if (adds || spoiled)
      plugin::fill(q_, adds ? T(0) : std::numeric_limits<T>::quiet_NaN(), X);
    call(alpha, A, B, beta, X, C, useful, spoiled);
    assigns ? add_scaled(q_, alpha, X, beta, C) : add_scaled(q_, T(1), X, T(0), C);
  }

  /// `its`: the part of the caller's C that it is for. `c_is_nan`: in validation, where the kernel is not to read C.
  void call(T alpha, In<T> A, In<T> B, T beta, Out<T> C, Out<T> its, double useful, bool c_is_nan) {
    const auto f = by_type<T>(kernel_.f64, kernel_.f32);
    if (KernelCalls& calls = KernelCalls::here(); calls.are_kept()) {
      const bool rows = has(LASOLVE_KERNEL_ROW_MAJOR);
      const In<T>&first = rows ? B : A, &second = rows ? A : B;
      const auto turned = [](const In<T>& X) { return X.op() == Op::transpose; };
      calls.add({1,
                 turned(first),
                 turned(second),
                 rows ? C.cols() : C.rows(),
                 rows ? C.rows() : C.cols(),
                 A.cols(),
                 first.ld(),
                 second.ld(),
                 C.ld(),
                 double(alpha),
                 double(beta),
                 !has(LASOLVE_KERNEL_ASSIGNS) && !has(LASOLVE_KERNEL_ADDS),
                 c_is_nan,
                 has(LASOLVE_KERNEL_ONE_CALL),
                 {alignment_of(first.data()), alignment_of(second.data()), alignment_of(C.data())}},
                {reinterpret_cast<const char*>(its.data()), its.rows(), its.cols(), its.ld(), sizeof(T)});
    }
    void* const data = account_.data(kernel_);
    const KeptFloatState kept;
    account_.begin();
    try {
      if (has(LASOLVE_KERNEL_ROW_MAJOR))
        f(data, c(B.op()), c(A.op()), C.cols(), C.rows(), A.cols(), alpha, B.data(), B.ld(), A.data(), A.ld(), beta,
          C.data(), C.ld());
      else
        f(data, c(A.op()), c(B.op()), C.rows(), C.cols(), A.cols(), alpha, A.data(), A.ld(), B.data(), B.ld(), beta,
          C.data(), C.ld());
    } catch (...) {
      throw_on();
    }
    account_.end(useful);
    if (const char* const left = kept.difference()) throw KernelFault(fmt::format("left {}", left));
    if (const char* const why = adapter_.why_failed_ ? adapter_.why_failed_() : nullptr)
      throw KernelFault(fmt::format("failed: {}", why));
    if (a_.guards().before || b_.guards().before || c_.guards().before)
      adapter_.ledger_.look_at(q_, {a_.guards(), b_.guards(), c_.guards()});
  }

  Adapter& adapter_;
  const lasolve_kernel& kernel_;
  Queue<Space>& q_;
  const Tiling& tiling_;
  Room<T, Space> a_, b_, c_;
  Account<Space> account_;
  unsigned work_ = 0;
};

template <class Space>
Adapter<Space>::Adapter(const lasolve_kernel& kernel, WhyFailed why_failed) : kernel_(kernel), why_failed_(why_failed) {
  for (lasolve_int* unit : {&kernel_.m_multiple, &kernel_.n_multiple, &kernel_.k_multiple})
    *unit = std::max<lasolve_int>(*unit, 1);
  for (lasolve_int* largest : {&kernel_.m_largest, &kernel_.n_largest, &kernel_.k_largest})
    if (*largest == 0) *largest = Wants::any;
  kernel_.alignment = std::max<lasolve_int>(kernel_.alignment, 1);
  if (has(LASOLVE_KERNEL_SQUARE))
    kernel_.m_multiple = kernel_.n_multiple = kernel_.k_multiple =
        std::lcm(std::lcm(kernel_.m_multiple, kernel_.n_multiple), kernel_.k_multiple);
  if (has(LASOLVE_KERNEL_ROW_MAJOR))
    std::swap(kernel_.m_multiple, kernel_.n_multiple), std::swap(kernel_.m_largest, kernel_.n_largest);
}

/// What a product may need.
template <class Space>
Copies Adapter<Space>::copies() const {
  const lasolve_kernel& k = kernel_;
  const bool any =
      has(LASOLVE_KERNEL_NO_GAPS) || has(LASOLVE_KERNEL_INT_INDICES) || has(LASOLVE_KERNEL_SQUARE) || k.alignment > 1;
  const bool operands = any || k.k_multiple > 1 || has(LASOLVE_KERNEL_NO_TRANSPOSES);
  return {.a = operands || k.m_multiple > 1 || has(LASOLVE_KERNEL_ADDS),
          .b = operands || k.n_multiple > 1,
          .c = any || k.m_multiple > 1 || k.n_multiple > 1 || has(LASOLVE_KERNEL_ASSIGNS)};
}

template <class Space>
Manner Adapter<Space>::manner() const {
  return {copies().any(), has(LASOLVE_KERNEL_ONE_CALL)};
}

template <class Space>
template <class T>
Tiling Adapter<Space>::tiling(const Queue<Space>& q, std::int64_t m, std::int64_t n, std::int64_t k) const {
  const Wants wants{{kernel_.m_multiple, kernel_.n_multiple, kernel_.k_multiple},
                    {kernel_.m_largest, kernel_.n_largest, kernel_.k_largest},
                    has(LASOLVE_KERNEL_SQUARE),
                    has(LASOLVE_KERNEL_NO_GAPS) ? 1 : line_of<T>(kernel_)};
  return tiling_for(q, {m, n, k}, wants, copies(), has(LASOLVE_KERNEL_ONE_CALL));
}

template <class Space>
template <class T>
void Adapter<Space>::multiply(Queue<Space>& q, T alpha, In<T> A, In<T> B, T beta, Out<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k == 0) return plugin::scale(q, beta, C);
  const Tiling tiling = this->template tiling<T>(q, m, n, k);
  const std::size_t bytes = bytes_of<T>(tiling, kernel_.alignment);
  char* const memory = q.template scratch<char>(std::int64_t(bytes), tiling.parts).data();
  each_part(q, tiling, [&](std::int64_t t) {
    const std::int64_t i = tiling.part.rows * (t % tiling.down), j = tiling.part.columns * (t / tiling.down);
    const std::int64_t rows = std::min(tiling.part.rows, m - i), columns = std::min(tiling.part.columns, n - j);
    if (rows > 0 && columns > 0)
      Part<T>(*this, q, tiling, memory + std::size_t(t) * bytes)
          .multiply(alpha, A.block(i, 0, rows, k), B.block(0, j, k, columns), beta, C.block(i, j, rows, columns));
  });
}

template <class Space>
template <class T>
void Adapter<Space>::prepare(Queue<Space>& q, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Tiling tiling = this->template tiling<T>(q, m, n, k);
  q.template scratch<char>(std::int64_t(bytes_of<T>(tiling, kernel_.alignment)), tiling.parts);
  ledger_.prepare(q);
}

template <class Space>
Cost Adapter<Space>::take_cost() {
  const Seconds s = ledger_.take();
  return {s.kernel, s.adapter, work_.exchange(0)};
}

std::optional<double> Cost::share() const {
  const double all = adapter_seconds + kernel_seconds;
  return all > 0 ? std::optional(adapter_seconds / all) : std::nullopt;
}

std::string Cost::work_in_words() const {
  std::vector<const char*> words;
  for (const auto& [bit, word] :
       {std::pair(transposing, "transposes"), std::pair(scaling, "alpha and beta"), std::pair(padding, "padding"),
        std::pair(packing, "packing"), std::pair(aligning, "alignment")})
    if (work & bit) words.push_back(word);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string Cost::in_words() const {
  if (work == 0) return "";
  if (!share()) return "the adapter's part was not timed: " + work_in_words();
  const double percent = 100 * *share();
  return fmt::format("{} of the time in its products is the adapter's: {}",
                     percent < 1 ? "less than 1 %" : fmt::format("{:.0f} %", percent), work_in_words());
}

#define LASOLVE_ADAPTER(Space, T)                                                                   \
  template void Adapter<Space>::multiply(Queue<Space>&, T, Operand<T, Space>, Operand<T, Space>, T, \
                                         MatrixView<T, Space>);                                     \
  template void Adapter<Space>::prepare<T>(Queue<Space>&, std::int64_t, std::int64_t, std::int64_t);
#define LASOLVE_ADAPTER_AT(Space) \
  template class Adapter<Space>;  \
  LASOLVE_ADAPTER(Space, double)  \
  LASOLVE_ADAPTER(Space, float)
LASOLVE_ADAPTER_AT(Cpu)
LASOLVE_ADAPTER_AT(Cuda)
#undef LASOLVE_ADAPTER_AT
#undef LASOLVE_ADAPTER

}  // namespace lasolve::plugin
