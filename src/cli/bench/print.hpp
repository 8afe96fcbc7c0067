// What `lasolve bench gemm` says: a table for people, JSON, CSV.
#pragma once

#include <string>
#include <vector>

#include "bench/gemm.hpp"

namespace lasolve::cli {

/// `name`: the length of the longest name of a backend.
std::string bench_header(bool with_copies, std::size_t name);
/// The lines of one product in one precision.
std::string bench_lines(const std::vector<bench::Result>&, std::size_t name);
/// What the columns mean, what the floor was made of, and with copies from which size CUDA is ahead of the CPU.
std::string bench_legend(bench::GemmBench&, const std::vector<bench::Result>&, const bench::Settings&);

/// A line for each backend that is right, and loses digits that others keep; see bench::Grade.
std::string grade_lines(const std::vector<bench::Result>&);

std::string bench_json(bench::GemmBench&, const std::vector<bench::Result>&, const bench::Settings&);
std::string bench_csv(const std::vector<bench::Result>&);

}  // namespace lasolve::cli
