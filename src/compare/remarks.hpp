// What a person has to know before the rows are believed.
#pragma once

#include <string>
#include <vector>

#include "compare/row.hpp"

namespace lasolve::compare {

/// Sentences: on sizes at which backends cannot be told apart, and which size would do; on what else went on while a size was measured;
/// on rows with too few runs.
std::vector<std::string> remarks_on(const Comparison&);

}  // namespace lasolve::compare
