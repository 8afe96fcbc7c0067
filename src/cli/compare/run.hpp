// All backends on the systems of one size.
#pragma once

#include <functional>

#include "cli/compare/contestants.hpp"

namespace lasolve::cli {

/// Who hears of the runs of a size; any may be empty.
struct Watch {
  std::function<void(double)> progress = {};                           ///< of the share that is done
  std::function<void(std::size_t c, std::int64_t n)> begins = {};      ///< a run of contestant c
  std::function<void(std::size_t c, const std::string&)> failed = {};  ///< one that threw, and not for want of memory
};

/// A row for each, in the same order. One that fails is a row that says so. Throws what is wrong with the matrix.
std::vector<compare::Row> run_size(const CompareRequest&, const std::vector<Contestant>&, const std::string& matrix,
                                   compare::Size& size, const Watch&);

}  // namespace lasolve::cli
