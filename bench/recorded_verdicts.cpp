// How often verdicts of `lasolve compare --baseline` are wrong, and how often they find a slowdown, on sessions that were recorded: each is
// the baseline of each other. Usage: recorded_verdicts NAME SLOWER,... SESSION.json...
//
// NAME is a row, and SLOWER others that were recorded beside it and are slower by a known share: they take its place in the later session.
// What is judged is NAME, in the company of the rows that are not among them.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "compare/record.hpp"
#include "compare/tables.hpp"
#include "compare/verdict.hpp"

namespace {

using namespace lasolve::compare;

Comparison session(const std::string& path) {
  std::ifstream file(path);
  return comparison_of({std::istreambuf_iterator<char>(file), {}}, path);
}

/// Of the rows in `variants` that alone which is named, under the name of the first of them.
Comparison with(Comparison all, const std::vector<std::string>& variants, const std::string& name) {
  std::erase_if(all.rows, [&](const Row& row) {
    return row.key.gemm != name && std::count(variants.begin(), variants.end(), row.key.gemm) > 0;
  });
  for (Row& row : all.rows)
    if (row.key.gemm == name) row.key.gemm = variants[0];
  return all;
}

/// Verdicts by their word.
struct Tally {
  std::map<std::string, int> of;
  int all = 0;

  void count(const lasolve::bench::Change& change) { ++of[word_of(change)], ++all; }
  std::string in_words() {
    return fmt::format("{:>6}  {:>6}  {:>6}  {:>7}  {:>6}", all, of["same"], of["slower"], of["faster"], of["unknown"]);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return fmt::print(stderr, "usage: recorded_verdicts NAME SLOWER,... SESSION.json SESSION.json...\n"), 2;
  std::vector<std::string> variants = {argv[1]};
  std::istringstream list(argv[2]);
  for (std::string name; std::getline(list, name, ',');) variants.push_back(name);
  std::vector<Comparison> sessions;
  for (int a = 3; a < argc; ++a) sessions.push_back(session(argv[a]));
  fmt::print("{:<24}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}\n", "the row is then", "pairs", "SAME", "SLOWER", "FASTER",
             "UNKNOWN");
  for (const std::string& name : variants) {
    Tally its, others;
    for (const Comparison& earlier : sessions)
      for (const Comparison& later : sessions) {
        if (&earlier == &later) continue;
        const Comparison before = with(earlier, variants, variants[0]), after = with(later, variants, name);
        for (const Row& row : after.rows) {
          const auto change = verdict(before, after, row.key);
          if (!change) continue;
          (row.key.gemm == variants[0] ? its : others).count(*change);
          if (row.key.gemm == variants[0]) fmt::print(stderr, "{:<12}  {}\n", name, in_words(*change));
        }
      }
    fmt::print("{:<24}  {}\n{:<24}  {}\n", name, its.in_words(), "  the others, unchanged", others.in_words());
  }
}
