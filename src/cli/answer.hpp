// What a solve says and writes in the end.
#pragma once

#include <string>
#include <vector>

#include "cli/print.hpp"
#include "cli/request.hpp"
#include "cli/runs.hpp"

namespace lasolve::cli {

/// Throws where X or the report could not be written in the end.
void require_outputs_writable(const Request&);

/// What is written to a terminal is its own progress.
bool shows_itself(const std::string& path);

/// The report, what failed, X and JSON, to where the request has them go. `code`: what the exit code is at least. Returns the exit code.
int say_and_write(const Request&, const std::vector<Measured>&, const Solutions&, bool is_vector, int code);

}  // namespace lasolve::cli
