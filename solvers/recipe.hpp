// How a system is solved: all that is decided of it, as a value, before anything is computed. Executors measure facts of A and choose
// nothing: a fact that speaks against a recipe leads to the next.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "lasolve/lasolve.hpp"
#include "lasolve/precision.hpp"
#include "solvers/cards/card_list.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

/// Of a system, what its recipes depend on.
struct Problem {
  std::int64_t n = 0;
  Precision element = Precision::fp64;  ///< of A
  bool handed_over = false;             ///< the memory of A is given for its factors
  bool is_complex = false;  ///< then A is no matrix of a method for symmetric ones: there is none for Hermitian ones
  bool from_host = false;   ///< A is to be copied to the device first
  bool by_columns = false;  ///< A is supplied some columns at a time
  Method glance = Method::automatic;  ///< what a part of A makes likely: lu is certain, cholesky is not
};

/// Of a device and a backend, the same.
struct Means {
  Device device = {};
  CardList cards = {};
  const Tuning* tuning = nullptr;
  const char* backend = "";
  unsigned precisions = 0;       ///< bit p: the backend offers products in Precision(p)
  const char* coarse = nullptr;  ///< another backend that is faster where its products in fp32 are refined; null: none
  bool is_quick = false;         ///< and this is that backend
  bool fits_a_leaf = false;      ///< one leaf, which computes no product, holds the system
  bool queues = true;            ///< what the lanes of a plan do goes side by side
  double device_bytes = 0;       ///< that a system may take of the device's memory; 0: it fits
  bool has_room_for_L = true;    ///< each of several cards holds all of L, beside its columns of A
  bool is_shared = false;        ///< several processes each have a part of A, and an engine
  bool has_gmres = true;         ///< refinement may be by GMRES

  bool offers(Precision p) const { return (precisions >> unsigned(p) & 1u) != 0; }
};

/// Whether solutions are coarser than A before they are refined, where residuals are in the precision of A.
inline bool is_coarse(const SolvePrecision& in) { return in.unit_roundoff() > unit_roundoff_of(in.residual); }

enum class Executor : std::uint8_t {
  plan,         ///< the tasks of a plan, on the queues of the device
  leaf,         ///< all at once, without a plan
  cards,        ///< the tasks of a plan, on the queues of several devices
  out_of_core,  ///< block column after block column, each by a plan, while the others are on the host
  ranks         ///< by an engine of several processes: engines/
};

/// How a matrix that no device holds is cut: into block columns, of which two are on the device, and slices of these that pass them.
struct OutOfCore {
  std::int64_t columns = 0, slice = 0;
  bool operator==(const OutOfCore&) const = default;
};

/// When a recipe that requires A = Aᵀ, but for roundoff, and a positive diagonal has that found out.
enum class Symmetry : std::uint8_t {
  given,   ///< never: it is the caller's word, or known, or not required
  before,  ///< A is factored
  beside,  ///< with the copy of A, beside the first tasks, which then do nothing
  after    ///< all of A has come
};

/// When the condition of A is estimated, and solutions are judged by it.
enum class Estimate : std::uint8_t {
  never,
  in_doubt,  ///< where the pivots make it likely that A is ill-conditioned
  always
};

/// What A is multiplied by before it is factored.
enum class Scaled : std::uint8_t {
  none,
  up,               ///< 2^e, so that the norm is just below 1
  rows_and_columns  ///< powers of two for each
};

struct Recipe {
  int number = 0;  ///< among those of its system
  Device device = {};
  CardList cards = {};       ///< of that kind
  const char* backend = "";  ///< has the products
  Method method = Method::automatic;
  Pivoting pivoting = Pivoting::none;
  Schedule schedule = Schedule::automatic;
  Widths widths = {};
  SolvePrecision precision = {};  ///< its residual is not automatic
  Refine refine = Refine::none;
  bool extra = false;    ///< with residuals in twice the precision of A
  bool history = false;  ///< and each right-hand side's are kept
  Scaled scaled = Scaled::none;
  bool equilibrates_in_need = false;  ///< rows and columns are, where A was factored, or solved with, in vain
  bool by_coarse = false;             ///< products are those of the backend that is faster where they are refined
  bool quick_products = false;        ///< so quick that panels are what a factorization waits for
  double accuracy = 0;                ///< the backward error that solutions must have; 0: that of the HPL check
  bool gmres_follows = false;         ///< where it stalls
  Executor executor = Executor::plan;
  OutOfCore out_of_core = {};
  Symmetry symmetry = Symmetry::given;
  Estimate condition = Estimate::never;
  bool asks_dominance = false;  ///< that A is diagonally dominant is found out before it is factored
  bool in_place = false;        ///< the factors overwrite A, or its copy on the device
  bool arrives = false;         ///< A comes while the first tasks run
  bool as_it_comes = false;     ///< and is factored column after column
  bool mirrors = false;         ///< the triangle that is there is mirrored before
  bool finite = false;          ///< NaN or Inf in A or B is misuse
  bool check = false;           ///< the backward error of each solution is measured
  bool bounds = false;          ///< and what the errors of a solution are at most
  bool mends = false;           ///< where a check fails because elements grew, the solution is refined

  std::int64_t block_size() const { return widths.panel; }
  bool refines() const { return refine != Refine::none; }
  bool is_coarse() const { return lasolve::is_coarse(precision); }
  /// Whether A is read again when it has been factored.
  bool reads_A_again() const { return check || refines(); }
  /// What comes next with the same factors: where classical refinement stalled, and where a solution is inaccurate. None: nothing does.
  std::optional<Recipe> after_stall() const { return refined_by(Refine::gmres, refines() && gmres_follows); }
  std::optional<Recipe> after_inaccuracy() const { return refined_by(Refine::classical, mends && !refines()); }
  /// Whether the condition is estimated, given the smallest pivot as a part of the largest, and the roundoff u of the factors. Where rcond
  /// is below u, pivots nearly always are further apart than 2¹⁶ u; those of random matrices rarely are as far apart as √u.
  bool estimates_condition(double range, double u) const {
    return condition == Estimate::always ||
           (condition == Estimate::in_doubt && range < 0x1p16 * u && range * range < u);
  }
  /// That of A, or of coarser factors whose solutions are not refined.
  double roundoff_of_solutions() const {
    return refines() ? unit_roundoff_of(precision.residual) : precision.unit_roundoff();
  }

 private:
  std::optional<Recipe> refined_by(Refine how, bool may_be) const {
    if (!may_be) return {};
    Recipe next = *this;
    next.refine = how;
    return next;
  }
};

/// Why a recipe did not serve.
enum class Reason : std::uint8_t {
  not_positive_definite,  ///< nor, perhaps, symmetric
  too_coarse,             ///< the factorization failed, or refinement stalled, in a precision coarser than A
  elements_grew,          ///< too much with a tournament for the pivots, or solutions did not become good
  too_small,              ///< A is, to compute with: 2^e A is factored
  badly_scaled            ///< its rows or columns are of very different size
};

/// Whether a system goes out of core where it may take so many bytes of a device: it does not fit, and is one that can, or the options say
/// how much it may take. 0: it fits.
bool goes_out_of_core(const Options&, const Problem&, double device_bytes);
/// What A and its factors take on a device.
double bytes_in_core(const Options&, const Problem&);

/// The recipe that is tried first, and those that follow from it.
class Recipes {
 public:
  Recipes() {}
  /// One that is given, with none behind it.
  explicit Recipes(const Recipe& only) { add(only); }

  const Recipe& first() const { return all_[0]; }
  /// What comes after one of them; null: nothing does.
  const Recipe* after(const Recipe& tried, Reason) const;
  const Recipe* begin() const { return all_.data(); }
  const Recipe* end() const { return all_.data() + count_; }

 private:
  friend Recipes resolve(const Options&, const Problem&, const Means&);
  void add(const Recipe& recipe) {
    std::construct_at(&all_[count_], recipe)->number = int(count_);
    ++count_;
  }

  union {
    // Methods, pivotings and precisions as A is, then scaled. A small system has no time to set those that it has not got.
    std::array<Recipe, 13> all_;
  };
  std::size_t count_ = 0;
};

/// All that is decided, once: pure, without allocation. Throws std::invalid_argument for what options ask for and nobody has: a block
/// size, a schedule of a method, products, a precision; and for factors in place that would have to be refined.
Recipes resolve(const Options&, const Problem&, const Means&);

/// Right-hand sides, as far as their solution depends on them.
struct RhsProblem {
  std::int64_t n = 0, nrhs = 0;
  bool overwritten = false;         ///< X is B
  bool watched = false;             ///< it is told how far their solution is
  std::int64_t most_of_a_leaf = 0;  ///< that one leaf solves for
};

/// How they are solved for, by factors of a recipe.
struct SolveRecipe {
  Executor executor = Executor::plan;
  std::int64_t at_once = 0;  ///< columns that are solved for, refined or checked in one go
  bool keeps_B = false;      ///< a copy of B is read, since X overwrites it
  Refine refine = Refine::none;
  std::int64_t bounded_at_once = 0;  ///< columns whose errors have one bound; 0: none is asked for
};

/// Right-hand sides that take a moment each part, where it is told how far they are. Fewer make slower products.
inline std::int64_t columns_of_a_part(std::int64_t n) {
  constexpr double operations_of_a_part = 2e10;
  constexpr std::int64_t least = 128;
  return std::max(least, std::int64_t(operations_of_a_part / std::max(1.0, 2 * double(n) * double(n))));
}

/// All that is decided of right-hand sides, once for each solve: pure, without allocation.
inline SolveRecipe resolve(const Recipe& of_factors, const RhsProblem& rhs) {
  constexpr std::int64_t bounded_alone = 4;
  const bool fits = rhs.nrhs > 0 && rhs.nrhs <= rhs.most_of_a_leaf;
  return {.executor = fits ? of_factors.executor : Executor::plan,
          .at_once = rhs.watched ? std::min(rhs.nrhs, columns_of_a_part(rhs.n)) : rhs.nrhs,
          .keeps_B = rhs.overwritten && of_factors.reads_A_again(),
          .refine = of_factors.refine,
          .bounded_at_once = !of_factors.bounds          ? 0
                             : rhs.nrhs <= bounded_alone ? 1
                                                         : rhs.nrhs};
}

}  // namespace lasolve
