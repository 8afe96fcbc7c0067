// What measuring programs with options have in common.
#pragma once

#include <boost/program_options.hpp>
#include <exception>
#include <iostream>

namespace lasolve::bench {

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
