#include "cli/words.hpp"

#include "io/destination.hpp"
#include "solvers/schedules.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// The option that a word names, with its value behind a = or not; null: none.
const Option* named_by(const std::string& word, const std::vector<Option>& options) {
  const std::string name = word.substr(0, word.find('='));
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) {
    return name == fmt::format("--{}", o.name) || (o.letter && word == fmt::format("-{}", o.letter));
  });
  return found == options.end() ? nullptr : &*found;
}

/// Whether the word behind this one is its value.
bool waits_for_value(const std::string& word, const std::vector<Option>& options) {
  const Option* const option = named_by(word, options);
  return option && option->value && word.find('=') == word.npos;
}

/// Under the name that it has now. What is former is said once, by the process that a person has started.
std::string with_present_name(const std::string& word, const std::vector<Option>& options) {
  for (const Option& o : options)
    for (const std::string& former : o.formerly) {
      const bool is_long = former.starts_with("--");
      const std::string rest = word.starts_with(former) ? word.substr(former.size()) : "";
      if (word != former && (rest.empty() || (is_long && rest[0] != '='))) continue;
      if (!worker::is_watched())
        fmt::print(stderr, "lasolve: note: {} is --{} now, and the next release does not take it\n", former, o.name);
      const std::string value = rest.empty() || is_long ? rest : "=" + rest;
      return fmt::format("--{}{}", o.name, value);
    }
  return word;
}

/// The words of a command line behind the first. -:NAME, an array on standard input, looks like an option where it stands alone. An
/// option is not taken for the value of the one before it.
std::vector<std::string> words_behind_first(int argc, const char* const* argv, const std::vector<Option>& options,
                                            const char* word) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0 && waits_for_value(words[k - 1], options)) {
      if (named_by(words[k], options))
        throw UsageError(fmt::format("{} takes {}, and is followed by the option '{}'; a file of that name is ./{}",
                                     words[k - 1], named_by(words[k - 1], options)->value, words[k], words[k]));
      continue;
    }
    words[k] = with_present_name(words[k], options);
    if (word && words[k].starts_with("-:")) words[k] = fmt::format("--{}={}", word, words[k]);
  }
  return words;
}

}  // namespace

po::variables_map parse_options(int argc, const char* const* argv, const std::vector<Option>& options,
                                const char* word) {
  const po::options_description known = described(options);
  po::positional_options_description words;
  if (word) words.add(word, 1);
  po::variables_map values;
  try {
    using style = po::command_line_style::style_t;
    po::store(po::command_line_parser(words_behind_first(argc, argv, options, word))
                  .options(known)
                  .positional(words)
                  .style(style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing))
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : known.options()) names.push_back("--" + option->long_name());
    const std::string name = e.get_option_name();
    // Before a prefix: --no-tuned.
    if (name == "--n" && known.find_nothrow("matrix", false))
      throw UsageError("there is no option '--n'; the size of a generated matrix is written uniform:n=1000");
    throw UsageError(fmt::format("there is no option '{}'{}", name, did_you_mean(name, names)));
  } catch (const po::too_many_positional_options_error&) {
    const bool rhs = known.find_nothrow("rhs", false) != nullptr;
    throw UsageError(std::string("one word too many") + (rhs ? "; right-hand sides are given as --rhs FILE" : ""));
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }
  return values;
}

void refuse_files_named_twice(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written) {
  const auto refuse = [](const NamedFile& a, const NamedFile& b) {
    throw UsageError(fmt::format("--{} {} and --{} {} are one file", a.option, a.path, b.option, b.path));
  };
  for (auto file = written.begin(); file != written.end(); ++file) {
    for (const NamedFile& other : read)
      if (io::lead_to_one_file(other.path == "-" ? "/dev/stdin" : other.path, file->path)) refuse(other, *file);
    for (auto other = written.begin(); other != file; ++other)
      if (io::lead_to_one_file(other->path, file->path) ||
          (io::is_standard_output(other->path) && io::is_standard_output(file->path)))
        refuse(*other, *file);
  }
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words(1);
  for (char c : list) {
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names = split(list);
  if (names.size() > 1 && std::count(names.begin(), names.end(), "all") > 0)
    throw UsageError("--gemm all stands alone: it means every backend that runs here");
  return names;
}

Device device_of(const std::string& text) {
  if (const auto device = parse_device(text)) return *device;
  const std::string cuda = name_of(Device::cuda), with_index = cuda + ":";
  if (text.starts_with(with_index))
    return {Device::cuda, number("device " + with_index + "INDEX", text.substr(with_index.size()), 0)};
  const auto words = words_of<Device::Kind>();
  const bool is_a_card = text.starts_with("gpu") || text.starts_with("nvidia");
  throw UsageError(fmt::format("--device takes {} or {}:INDEX, not '{}'{}", fmt::join(words, ", "), cuda, text,
                               is_a_card ? "; did you mean 'cuda'?" : did_you_mean(text, words)));
}

int threads_of(const std::string& text) {
  const int threads = number("threads", text, 1, "all");
  if (threads > 1024) throw UsageError(fmt::format("--threads takes at most 1024, not {}", threads));
  return threads;
}

std::vector<std::int64_t> sizes_of(const std::string& list, const std::string& option) {
  constexpr std::size_t most = 1000;
  std::vector<std::int64_t> sizes;
  for (const auto& word : split(list)) {
    const std::size_t first = word.find(':'), second = first == word.npos ? first : word.find(':', first + 1);
    if (first == word.npos) {
      sizes.push_back(number<std::int64_t>(option, word, 1));
      continue;
    }
    if (second == word.npos)
      throw UsageError(
          fmt::format("--{} takes BEGIN:END:xFACTOR or BEGIN:END:STEP, such as 1k:16k:x2, not '{}'", option, word));
    const auto begin = number<std::int64_t>(option, word.substr(0, first), 1);
    const auto end = number<std::int64_t>(option, word.substr(first + 1, second - first - 1), begin);
    const std::string step = word.substr(second + 1);
    const bool times = step.starts_with('x');
    const auto by = number<std::int64_t>(option, times ? step.substr(1) : step, times ? 2 : 1);
    for (std::int64_t n = begin; n <= end && sizes.size() <= most;) {
      sizes.push_back(n);
      if (times ? n > end / by : n > end - by) break;
      n = times ? n * by : n + by;
    }
  }
  if (sizes.size() > most) throw UsageError(fmt::format("--{} {} means more than {} sizes", option, list, most));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

double positive(const char* option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e9) return value;
  throw UsageError(fmt::format("--{} takes a number above 0, not '{}'", option, text));
}

std::vector<Precision> precisions_of(const std::string& list) {
  std::vector<Precision> known, found;
  for (const SolvePrecision& p : solve_precisions) known.push_back(p.name);
  for (const auto& word : split(list)) {
    const Precision p = one_of("precision", word, known);
    if (std::count(found.begin(), found.end(), p) == 0) found.push_back(p);
  }
  return found;
}

}  // namespace lasolve::cli
