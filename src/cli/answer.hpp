// The runs of the backends of one command: in turns, each as often as was asked for. And what is said and written in the end.
#pragma once

#include <string>
#include <vector>

#include "cli/print.hpp"
#include "cli/problem.hpp"
#include "cli/request.hpp"

namespace lasolve::cli {

int exit_code(const Outcome&, const Request&);

/// The solution of the first backend, and how far from it the others' are: the largest difference over the largest entry.
struct Solutions {
  Matrix<double> X;
  double difference = 0;

  void add(const Matrix<double>& other);
};

/// Runs the backends in turns, so that what the machine does meanwhile is the same for all. What is left open is as it was tuned.
/// What cannot be solved is thrown with the option that would do.
std::vector<Measured> measure(const Request&, Problem&, Solutions&);

/// Throws where X or the report could not be written in the end.
void require_outputs_writable(const Request&);

/// What is written to a terminal is its own progress.
bool shows_itself(const std::string& path);

/// The report, what failed, X and JSON, to where the request has them go. `code`: what the exit code is at least. Returns the exit code.
int say_and_write(const Request&, const std::vector<Measured>&, const Solutions&, bool is_vector, int code);

}  // namespace lasolve::cli
