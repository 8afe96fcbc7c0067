// What became of a row since a baseline.
#pragma once

#include "compare/row.hpp"

namespace lasolve::compare {

/// Nothing where either was not timed, or one fell back to factors of another precision than the other.
///
/// Compares the medians of the visits, since the runs of one visit are not independent. Where either row has fewer visits than a
/// verdict takes, as one of long runs may, its runs are compared. It allows for what the machine may have done:
///
/// - On the CPU, for what the yardstick of the host shows, and where other programs kept u processors busy, for times that are up to
///   1 + u times as long: as if each took one from the solve.
/// - On CUDA, for what the yardstick of launches shows, by the share of launches in a solve. The share is less where launches differ
///   from visit to visit, and the row does not: at most twice the spread of the row's visits over that of launches. This holds for
///   launches that have moved by no more than three of their spreads; what is beyond, no visit has shown. Where that bound is below
///   0.15 and no other row of the size has moved, launches have done no more to the row than the others have moved at the most.
/// - On CUDA also for so much as the visits of one session differ by together, where three rows or more have the size: then sessions
///   may differ as much. Where three others or more have moved together by no more than that, what they have moved by is known to be
///   the machine's doing. A row is then judged by what it moved beside them. A clock moves all by the same share, launches by the same
///   seconds. A row that takes longer than they do has then moved by something between their share and their seconds.
/// - Where that leaves it open whether a slowdown of 3 % would have been found, a row on CUDA is compared with each other row of the
///   size, by the ratios of their visits. It is the same where it is beside more than half of them, each to 3 %. The widest of these
///   changes is returned; its `machine` is what is left of the row's own.
std::optional<bench::Change> verdict(const Comparison& before, const Comparison& after, const Key&);

/// Why there is none, in a word or two.
std::string why_no_verdict(const Comparison& before, const Comparison& after, const Key&);

/// A sentence on each size whose rows on a CUDA device have moved together, by no less than what would be a change, and no more than
/// the machine may do: it may be the solver, which all of them share.
std::vector<std::string> remarks_on_changes(const Comparison& before, const Comparison& after);

}  // namespace lasolve::compare
