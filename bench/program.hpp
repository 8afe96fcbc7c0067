// What measuring programs with options have in common.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/program_options.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lasolve/names.hpp"

namespace lasolve::bench {

/// What stands between commas.
inline std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) all.push_back(word);
  return all;
}
inline std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> all;
  for (const auto& word : words(list)) all.push_back(std::stoll(word));
  return all;
}

/// Of a word that is given. Throws std::invalid_argument for one that is not known.
template <class Enum>
Enum named(const std::string& word) {
  if (const auto value = parse<Enum>(word)) return *value;
  throw std::invalid_argument(fmt::format("'{}' is none of {}", word, fmt::join(words_of<Enum>(), ", ")));
}

/// Reads the command line into the variables of `known`, and then does work(values). With --help it prints the options instead. The
/// exit code: 1, with a message, for what is thrown.
template <class Work>
int run_program(const char* name, boost::program_options::options_description& known, int argc, char** argv,
                Work work) {
  namespace po = boost::program_options;
  try {
    known.add_options()("help", "print this");
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, known), values);
    po::notify(values);
    if (values.count("help"))
      std::cout << known;
    else
      work(values);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
    return 1;
  }
}

}  // namespace lasolve::bench
