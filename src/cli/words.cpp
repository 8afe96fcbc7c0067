#include "cli/words.hpp"

#include "io/destination.hpp"
#include "solvers/schedules.hpp"

namespace lasolve::cli {

po::variables_map parse_options(int argc, const char* const* argv, const po::options_description& known,
                                const char* word) {
  po::positional_options_description words;
  if (word) words.add(word, 1);
  po::variables_map values;
  try {
    using style = po::command_line_style::style_t;
    po::store(po::command_line_parser(argc, argv)
                  .options(known)
                  .positional(words)
                  .style(style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing))
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : known.options()) names.push_back("--" + option->long_name());
    throw UsageError(
        fmt::format("there is no option '{}'{}", e.get_option_name(), did_you_mean(e.get_option_name(), names)));
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

Device device_of(const std::string& text) {
  if (const auto device = parse_device(text)) return *device;
  const std::string cuda = name_of(Device::cuda), with_index = cuda + ":";
  if (text.starts_with(with_index))
    return {Device::cuda, number("device " + with_index + "INDEX", text.substr(with_index.size()), 0)};
  const auto words = words_of<Device::Kind>();
  throw UsageError(fmt::format("--device takes {} or {}:INDEX, not '{}'{}", fmt::join(words, ", "), cuda, text,
                               did_you_mean(text, words)));
}

int threads_of(const std::string& text) {
  const int threads = number("threads", text, 1, "all");
  if (threads > 1024) throw UsageError(fmt::format("--threads takes at most 1024, not {}", threads));
  return threads;
}

}  // namespace lasolve::cli
