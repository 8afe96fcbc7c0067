#include "cli/words.hpp"

#include "core/range.hpp"
#include "io/destination.hpp"

namespace lasolve::cli {

namespace {

template <class Enum>
std::vector<Enum> each_once(const char* option, const std::vector<std::string>& taken, const std::string& list) {
  std::vector<Enum> found;
  for (const auto& word : split(list))
    if (const Enum value = enumerator_of<Enum>(option, taken, word); !contains(found, value)) found.push_back(value);
  return found;
}

}  // namespace

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
  if (names.size() > 1 && contains(names, "all"))
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

void take_devices(const std::string& text, Options& options) {
  auto several = parse_devices(text);
  if (several && several->all)
    for (int card = 0; card < int(cuda_devices().names.size()); ++card) several->cards.push_back(card);
  options.device = several ? several->first : device_of(text);
  if (several && several->cards.size() > 1) options.cards = several->cards;
}

void take_shares(const std::string& text, Options& options) {
  const auto shares = parse_numbers(text);
  if (!shares) throw UsageError(fmt::format("--card-shares takes whole numbers, as 2,1, or auto, not '{}'", text));
  options.card_shares = *shares;
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

double accuracy_of(const std::string& text) {
  if (text == "hpl") return 0;
  const double accuracy = positive("accuracy", text);
  const double least = unit_roundoff_of(Precision::fp64);
  if (accuracy < least || accuracy >= 1)
    throw UsageError(
        fmt::format("--accuracy is at least {:.2g}, the roundoff of fp64, and below 1, not {}", least, text));
  return accuracy;
}

double positive(const char* option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e9) return value;
  throw UsageError(fmt::format("--{} takes a number above 0, not '{}'", option, text));
}

std::vector<std::string> words_of_precisions() {
  std::vector<Precision> all;
  for (const SolvePrecision& p : solve_precisions) all.push_back(p.name);
  return words_of(all);
}

std::vector<Precision> precisions_of(const std::string& list) {
  return each_once<Precision>("precision", words_of_precisions(), list);
}

std::vector<std::string> words_of_methods() {
  std::vector<std::string> words = words_of<Method>();
  std::erase(words, name_of(Method::automatic));
  return words;
}

std::vector<Method> methods_of(const std::string& list) {
  return each_once<Method>("factorization", words_of_methods(), list);
}

}  // namespace lasolve::cli
