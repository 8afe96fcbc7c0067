// A method as a record: all that others ask of it. Who wants to know whether a method has a property asks the record, never which
// method it is. What its tasks do on a device is a class of the method: solvers/methods.hpp.
#pragma once

#include <array>
#include <span>

#include "solvers/plan.hpp"
#include "solvers/stored_triangle.hpp"

namespace lasolve {

struct Capabilities;

/// A pure function from sizes to tasks in program order.
using ScheduleFunction = std::vector<Task> (*)(const Blocking&);

struct MethodSchedule {
  Schedule schedule = Schedule::automatic;
  ScheduleFunction tasks;
};

/// What the widths of panels depend on.
struct Sized {
  Schedule schedule = Schedule::automatic;
  Precision storage = Precision::fp64;  ///< of the factors
  std::int64_t n = 0;
  std::int64_t columns = 0;  ///< of a panel at most; 0: to be chosen
  bool arrives = false;      ///< A is factored as it comes
  bool queues = false;       ///< what the lanes of a plan do goes side by side
  int cards = 1;             ///< to which block columns are dealt out
};

inline constexpr Pivoting no_pivoting[] = {Pivoting::none};

struct MethodRecord {
  Method method;
  const char* name;  ///< "LU"
  std::span<const MethodSchedule> schedules;

  /// A = Aᵀ with a positive diagonal is required, and one triangle is factored. Else all of A counts.
  bool is_symmetric;
  /// A is required to be diagonally dominant, by rows or by columns.
  bool is_dominant;
  const char* requirement;  ///< both in words; null: any A that is not singular
  const char* example;      ///< the generator of matrices that it is measured with
  /// How it may interchange rows, the usual way first.
  std::span<const Pivoting> pivotings;
  /// A = L U but for the interchanges. Where U is Lᵀ, both are on and below the diagonal.
  StoredTriangle L, U;
  /// Elements may grow, which spoils solutions of systems that are well-conditioned.
  bool may_grow;
  Outcome::Kind failure;  ///< of a factorization
  bool has_leaf;          ///< small systems are factored and solved at once, on each device

  /// Textbook counts of a factorization of n × n, and of a panel, m × n, with its diagonal block.
  double (*flops)(double n);
  double (*panel_flops)(double m, double n);
  /// Pivots are this power of what is on the diagonal of the factors.
  int power_of_pivots;

  /// With products that are quick, or not: see Recipe.
  Schedule (*default_schedule)(const Tuning&, bool quick_products);
  Widths (*widths)(const Tuning&, const Sized&);
  /// What a device makes of a plan of several lanes: see lower(). And the phases of the report that the tasks of that begin.
  std::vector<Task> (*lowered)(const Plan&, const Capabilities&);
  void (*mark_phases)(Plan&, const Capabilities&);

  /// How many interchanges a factorization of n columns makes, which are its pivots.
  std::int64_t interchanges(std::int64_t n) const { return pivotings.front() == Pivoting::none ? 0 : n; }
  /// Nothing is stored above the diagonal.
  bool is_in_lower_triangle() const { return U.lower; }
  /// What op(A) X = B is solved with, one after the other.
  std::array<StoredTriangle, 2> triangles_of(Op op) const {
    if (op == Op::none) return {L, U};
    return {U.transposed(op), L.transposed(op)};
  }
};

/// Those that an automatic method may become: one whose requirements A may not meet, and what takes its place.
inline constexpr Method automatic_methods[] = {Method::cholesky, Method::lu};

/// Throws std::invalid_argument for an automatic method.
const MethodRecord& record_of(Method);
/// Throws std::invalid_argument for an automatic schedule, and where the method has no such schedule.
ScheduleFunction schedule_of(Method, Schedule);
bool is_offered(Method, Schedule);

}  // namespace lasolve
