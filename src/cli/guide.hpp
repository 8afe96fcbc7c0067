// What the tool explains: each command, a few topics, and from the same tables a manual page and completion for shells.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace lasolve::cli {

struct CommandGuide {
  int (*run)(int argc, const char* const* argv);  // returns the exit code; argv[0] is the name
  std::string name, usage, in_short, summary;
  std::vector<std::string> examples;
  std::vector<Option> options;
  std::string more;  // behind the options
};

/// Of every command: a new one is added here, and is in all that follows.
const std::vector<CommandGuide>& guides();
/// Null: there is none of that name.
const CommandGuide* find_guide(const std::string& name);
std::vector<std::string> names_of_commands();

/// What a command is for and its options.
std::string help_of(const std::string& command);
/// The commands and the topics.
std::string overview();
/// A command or a topic, such as phases. Throws UsageError on another word.
std::string help_about(const std::string& topic);
std::vector<std::string> topics_of_help();

/// What an option of `lasolve help`, such as --completion, prints, with its word. Throws UsageError on another option, or word.
std::string page_of(const std::string& option, const std::string& word);

// Their options stand where they are parsed.
std::vector<Option> solve_options();
std::vector<Option> compare_options();
std::vector<Option> tune_options();
std::vector<Option> list_options();
std::vector<Option> generate_options();
std::vector<Option> convert_options();
std::vector<Option> plan_options();
std::vector<Option> bench_options();
std::vector<Option> new_kernel_options();
std::vector<Option> try_kernel_options();
std::vector<Option> run_options();
std::vector<Option> help_options();

}  // namespace lasolve::cli
