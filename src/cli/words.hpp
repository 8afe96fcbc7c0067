// Words of a command line, and what they mean.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/request.hpp"
#include "core/choose.hpp"
#include "core/sizes.hpp"
#include "lasolve/names.hpp"

namespace lasolve::cli {

/// An option and the file that it names; empty: it was not given.
struct NamedFile {
  const char* option;
  std::string path;
};

/// Throws UsageError where a file that is going to be written has another use, too.
void refuse_files_named_twice(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written);

std::vector<std::string> split(const std::string& list);

/// Of --gemm: the names of a list, of which "all" stands alone.
std::vector<std::string> names_in(const std::string& list);

/// Of --n, or another option: "1k,3000", "1k:16k:x2", "1000:5000:1000", ascending and each once.
std::vector<std::int64_t> sizes_of(const std::string& list, const std::string& option = "n");

/// What --precision takes, and of a list of these words: those that systems are solved in, each once.
std::vector<std::string> words_of_precisions();
std::vector<Precision> precisions_of(const std::string& list);

/// What a list of methods is made of; and those of one, each once.
std::vector<std::string> words_of_methods();
std::vector<Method> methods_of(const std::string& list);

/// Of --accuracy; 0: the HPL check.
double accuracy_of(const std::string& text);

/// A number above 0.
double positive(const char* option, const std::string& text);

/// auto, cpu, cuda or cuda:INDEX.
Device device_of(const std::string& text);

/// 0 for all.
int threads_of(const std::string& text);

/// A whole number of at least `least`, such as 8192, 8k or 1e4; `word` alone means 0.
template <class Number>
Number number(const std::string& option, const std::string& text, Number least, const std::string& word = "") {
  if (!word.empty() && text == word) return 0;
  const auto value = whole_number(text);
  if (!value || *value < least || !std::in_range<Number>(*value))
    throw UsageError(fmt::format("--{} takes a whole number of at least {}{}, not '{}'", option, least,
                                 word.empty() ? "" : " or " + word, text));
  return Number(*value);
}

/// 0 for auto.
inline std::int64_t block_size_of(const std::string& text) {
  return number<std::int64_t>("block-size", text, 1, "auto");
}

// What several commands take, with what is said of it there.

inline const std::vector<std::string> words_of_devices = {"auto", "cpu", "cuda", "cuda:INDEX"};

/// An option of a solve, for commands that take it as well.
const OptionOf<Request>& solve_option(const std::string& name);
/// What of a solve decides on its recipes, and is said by several options at once. Throws UsageError for what does not go together.
void complete_recipe(Request&, const Given&);

/// Sets the device of options, or several of one kind: "cuda:0,1" or "cuda:all".
void take_devices(const std::string& text, Options&);
/// "2,1": of several cards.
void take_shares(const std::string& text, Options&);

template <class R>
OptionOf<R> device_option(const char* meaning = "") {
  return OptionOf<R>("device", 'd', "DEVICE", "auto", words_of_devices, meaning).to([](R& r, auto& word) {
    r.options.device = device_of(word);
  });
}
template <class R>
OptionOf<R> threads_option(const char* meaning = "cores of the host to use") {
  return OptionOf<R>("threads", 0, "COUNT", "all", meaning).to([](R& r, auto& word) {
    r.options.threads = threads_of(word);
  });
}
template <class R>
OptionOf<R> factorization_option(const char* meaning) {
  return OptionOf<R>("factorization", 'f', "METHOD", "auto", words_of<Method>(), meaning).to(&Options::factorization);
}
template <class R>
OptionOf<R> assume_suitable_option() {
  return OptionOf<R>("assume-suitable", 0, "where a method requires a diagonally dominant A, take it to be one")
      .to(&Options::assume_suitable);
}
template <class R>
OptionOf<R> pivoting_option(const char* meaning) {
  return OptionOf<R>("pivoting", 0, "KIND", "auto", words_of<Pivoting>(), meaning).to(&Options::pivoting);
}
template <class R>
OptionOf<R> schedule_option(const char* meaning) {
  return OptionOf<R>("schedule", 's', "NAME", "auto", words_of<Schedule>(), meaning).to(&Options::schedule);
}
template <class R>
OptionOf<R> block_size_option() {
  return OptionOf<R>("block-size", 0, "SIZE", "auto", "columns of a panel at most").to([](R& r, auto& word) {
    r.options.block_size = block_size_of(word);
  });
}
template <class R>
OptionOf<R> patience_option() {
  return OptionOf<R>("patience", 0, "SECONDS", "60",
                     "that a small product may take; a backend that takes longer is wrong")
      .to([](R& r, auto& word) { r.patience = number("patience", word, 1); });
}
template <class R>
OptionOf<R> quiet_option(const char* meaning) {
  return OptionOf<R>("quiet", 'q', meaning).to(&R::quiet);
}
template <class R>
OptionOf<R> json_option(const char* meaning) {
  return OptionOf<R>("json", 0, "FILE", meaning).to(&R::json);
}
template <class R>
OptionOf<R> help_option() {
  return {"help", 'h', "print this"};
}

}  // namespace lasolve::cli
