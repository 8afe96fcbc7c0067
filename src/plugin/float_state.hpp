// How the thread that asks computes with floating-point numbers. A kernel gets it as it is by default, and has to leave it so.
#pragma once

#include <cfenv>
#include <cstdint>

namespace lasolve::plugin {

#if defined(__x86_64__)

/// The control words of SSE and AVX, and of the x87, which long double is computed with; without the exceptions that have occurred.
struct FloatState {
  std::uint32_t vectors = 0;
  std::uint16_t x87 = 0;

  static FloatState now() {
    FloatState s;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(s.vectors), "=m"(s.x87));
    s.vectors &= ~occurred;
    return s;
  }
  void put_back() const { asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vectors), "m"(x87)); }
  bool operator==(const FloatState&) const = default;

  /// What differs, such as "the rounding mode changed", of a kernel that has left it.
  const char* difference(const FloatState& other) const {
    const std::uint32_t v = vectors ^ other.vectors;
    const std::uint16_t x = x87 ^ other.x87;
    if ((v & rounding) || (x & x87_rounding)) return "the rounding mode changed";
    if (v & subnormals) return "subnormals flushed to zero";
    if (x & x87_precision) return "long double with fewer digits";
    return "floating-point exceptions unmasked";
  }

 private:
  static constexpr std::uint32_t occurred = 0x3f, rounding = 0x6000, subnormals = 0x8040;
  static constexpr std::uint16_t x87_rounding = 0xc00, x87_precision = 0x300;
};

#elif defined(__aarch64__)

/// FPCR.
struct FloatState {
  std::uint64_t control = 0;

  static FloatState now() {
    FloatState s;
    asm volatile("mrs %0, fpcr" : "=r"(s.control));
    return s;
  }
  void put_back() const { asm volatile("msr fpcr, %0" : : "r"(control)); }
  bool operator==(const FloatState&) const = default;

  const char* difference(const FloatState& other) const {
    const std::uint64_t c = control ^ other.control;
    if (c & rounding) return "the rounding mode changed";
    if (c & subnormals) return "subnormals flushed to zero";
    return "what is done with NaN or with floating-point exceptions changed";
  }

 private:
  static constexpr std::uint64_t rounding = 3u << 22, subnormals = (1u << 24) | (1u << 19);
};

#else

/// What the standard knows: the rounding mode.
struct FloatState {
  int rounding = 0;

  static FloatState now() { return {std::fegetround()}; }
  void put_back() const { std::fesetround(rounding); }
  bool operator==(const FloatState&) const = default;
  const char* difference(const FloatState&) const { return "the rounding mode changed"; }
};

#endif

/// The state at its beginning, which comes back at its end.
class KeptFloatState {
 public:
  KeptFloatState() = default;
  ~KeptFloatState() {
    if (FloatState::now() != before_) before_.put_back();
  }
  KeptFloatState(const KeptFloatState&) = delete;
  KeptFloatState& operator=(const KeptFloatState&) = delete;

  /// What has changed meanwhile; null: nothing.
  const char* difference() const {
    const FloatState now = FloatState::now();
    return now == before_ ? nullptr : before_.difference(now);
  }

 private:
  const FloatState before_ = FloatState::now();
};

}  // namespace lasolve::plugin
