// What ranks do alike, and end together where one of them cannot.
#pragma once

#include <optional>
#include <span>

#include "cli/failure.hpp"
#include "engines/engine.hpp"

namespace lasolve::cli {

/// Thrown on all ranks, after the reason has been said.
struct Ended {
  int code;
};

class Collective {
 public:
  explicit Collective(engines::Engine& engine) : engine_(engine) {}

  /// f() on each rank, which waits for others where they meet() alone. Where it throws on some, the message of the first of them is said
  /// by rank 0, and Ended is thrown on all: where f() ends, or in meet().
  template <class F>
  void run(F f) const {
    std::optional<Failure> failure;
    try {
      f();
    } catch (const Ended&) {
      throw;
    } catch (...) {
      failure = current_failure("solve");
    }
    end_where_any(failure);
  }
  /// In f() of run(): returns where all are here.
  void meet() const { end_where_any({}); }
  /// f() on rank 0 alone.
  template <class F>
  void run_on_first(F f) const {
    run([&] {
      if (engine_.ranks().rank == 0) f();
    });
  }
  /// What rank 0 has, all have.
  template <class T>
  void share(T& value) const {
    engine_.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  }

 private:
  void end_where_any(const std::optional<Failure>&) const;

  engines::Engine& engine_;
};

}  // namespace lasolve::cli
