// The word for each enumerator, once: written and read by the tool, by JSON and by bindings.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// An enumerator and its word.
template <class Enum>
struct Name {
  Enum value;
  const char* word;
};

/// The words of an enumeration, in the order in which they are listed.
template <class Enum>
struct Names;

template <>
struct Names<Method> {
#define LASOLVE_NAME(enumerator, word, Class) {Method::enumerator, word},
  static constexpr Name<Method> all[] = {{Method::automatic, "auto"}, LASOLVE_METHODS(LASOLVE_NAME)};
#undef LASOLVE_NAME
};
template <>
struct Names<Refine> {
  static constexpr Name<Refine> all[] = {
      {Refine::automatic, "auto"}, {Refine::none, "none"}, {Refine::classical, "classical"}, {Refine::gmres, "gmres"}};
};
template <>
struct Names<Residual> {
  static constexpr Name<Residual> all[] = {{Residual::working, "working"}, {Residual::extra, "extra"}};
};
template <>
struct Names<Equilibration> {
  static constexpr Name<Equilibration> all[] = {{Equilibration::none, "none"},
                                                {Equilibration::rows, "rows"},
                                                {Equilibration::columns, "columns"},
                                                {Equilibration::both, "both"}};
};
template <>
struct Names<Wanted::Kind> {
  static constexpr Name<Wanted::Kind> all[] = {{Wanted::automatic, "auto"}, {Wanted::off, "off"}, {Wanted::on, "on"}};
};
template <>
struct Names<Schedule> {
#define LASOLVE_NAME(enumerator, word) {Schedule::enumerator, word},
  static constexpr Name<Schedule> all[] = {{Schedule::automatic, "auto"}, LASOLVE_SCHEDULES(LASOLVE_NAME)};
#undef LASOLVE_NAME
};
template <>
struct Names<Pivoting> {
#define LASOLVE_NAME(enumerator, word) {Pivoting::enumerator, word},
  static constexpr Name<Pivoting> all[] = {{Pivoting::automatic, "auto"}, LASOLVE_PIVOTINGS(LASOLVE_NAME)};
#undef LASOLVE_NAME
};
template <>
struct Names<Uplo> {
  static constexpr Name<Uplo> all[] = {{Uplo::both, "both"}, {Uplo::lower, "lower"}, {Uplo::upper, "upper"}};
};
template <>
struct Names<Op> {
  static constexpr Name<Op> all[] = {
      {Op::none, "none"}, {Op::transpose, "transpose"}, {Op::conjugate_transpose, "conjugate_transpose"}};
};
template <>
struct Names<Device::Kind> {
  static constexpr Name<Device::Kind> all[] = {
      {Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}};
};
template <>
struct Names<Precision> {
  static constexpr Name<Precision> all[] = {{Precision::automatic, "auto"}, {Precision::fp64, "fp64"},
                                            {Precision::fp32, "fp32"},      {Precision::tf32, "tf32"},
                                            {Precision::fp16, "fp16"},      {Precision::bf16, "bf16"}};
};
template <>
struct Names<Outcome::Kind> {
  static constexpr Name<Outcome::Kind> all[] = {{Outcome::solved, "solved"},
                                                {Outcome::singular, "singular"},
                                                {Outcome::not_positive_definite, "not_positive_definite"},
                                                {Outcome::not_converged, "not_converged"},
                                                {Outcome::inaccurate, "inaccurate"},
                                                {Outcome::ill_conditioned, "ill_conditioned"},
                                                {Outcome::not_symmetric, "not_symmetric"},
                                                {Outcome::unsuitable, "unsuitable"},
                                                {Outcome::accuracy_not_reached, "accuracy_not_reached"}};
};
template <>
struct Names<Phase> {
  static constexpr Name<Phase> all[] = {
      {Phase::read, "read"},   {Phase::to_device, "to_device"}, {Phase::panel, "panel"}, {Phase::swap, "swap"},
      {Phase::trsm, "trsm"},   {Phase::gemm, "gemm"},           {Phase::solve, "solve"}, {Phase::refine, "refine"},
      {Phase::check, "check"}, {Phase::to_host, "to_host"},     {Phase::other, "other"}};
};

/// The word of an enumerator; "unknown" for a value that is none.
template <class Enum>
constexpr auto name_of(Enum value) -> decltype(+Names<Enum>::all->word) {
  for (const auto& name : Names<Enum>::all)
    if (name.value == value) return name.word;
  return "unknown";
}

/// The enumerator of a word, if it is one.
template <class Enum>
constexpr std::optional<Enum> parse(std::string_view word) {
  for (const auto& name : Names<Enum>::all)
    if (name.word == word) return name.value;
  return std::nullopt;
}

/// The words of some enumerators.
template <class Enum>
std::vector<std::string> words_of(const std::vector<Enum>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.push_back(name_of(value));
  return words;
}

/// All words of an enumeration.
template <class Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const auto& name : Names<Enum>::all) words.push_back(name.word);
  return words;
}

/// "auto", "cpu", "cuda:0", "cuda:1", …
inline std::string name_of(const Device& device) {
  std::string name = name_of(device.kind);
  if (device.kind == Device::cuda) name.append(":").append(std::to_string(device.index));
  return name;
}

/// The device of what name_of writes, or of "cuda", which is "cuda:0".
inline std::optional<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto kind = parse<Device::Kind>(text.substr(0, colon));
  if (!kind || colon == text.npos) return kind ? std::optional(Device{*kind, 0}) : std::nullopt;
  Device device{*kind, 0};
  const char* const end = text.data() + text.size();
  const auto [stop, e] = std::from_chars(text.data() + colon + 1, end, device.index);
  if (*kind != Device::cuda || e != std::errc() || stop != end || device.index < 0) return std::nullopt;
  return device;
}

/// "cuda:0,1": several devices of one kind, by their indices.
inline std::string name_of(const Device& first, const std::vector<int>& cards) {
  if (cards.size() < 2) return name_of(first);
  std::string name = name_of(first.kind);
  for (std::size_t k = 0; k < cards.size(); ++k) name.append(k == 0 ? ":" : ",").append(std::to_string(cards[k]));
  return name;
}

/// "2,1": whole numbers, none of them negative.
inline std::optional<std::vector<int>> parse_numbers(std::string_view text) {
  std::vector<int> numbers;
  const char *at = text.data(), *const end = at + text.size();
  for (;; ++at) {  // from behind a comma
    int number = 0;
    const auto [stop, e] = std::from_chars(at, end, number);
    if (e != std::errc() || number < 0 || (stop != end && *stop != ',')) return std::nullopt;
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop;
  }
}

/// The devices of what name_of writes; of "cuda:all" there are no indices. Where there is one, the second is empty.
struct ParsedDevices {
  Device first;
  std::vector<int> cards = {};
  bool all = false;
};
inline std::optional<ParsedDevices> parse_devices(std::string_view text) {
  if (text == "cuda:all") return ParsedDevices{{Device::cuda, 0}, {}, true};
  if (const auto one = parse_device(text)) return ParsedDevices{*one};
  const std::size_t colon = text.find(':');
  const auto kind = parse<Device::Kind>(text.substr(0, colon));
  if (!kind || *kind == Device::automatic || colon == text.npos) return std::nullopt;
  const auto cards = parse_numbers(text.substr(colon + 1));
  if (!cards || cards->size() < 2) return std::nullopt;
  return ParsedDevices{{*kind, *kind == Device::cuda ? cards->front() : 0}, *cards};
}

/// The word of a device.
template <class Space>
inline constexpr Device::Kind kind_of = std::is_same_v<Space, Cuda> ? Device::cuda : Device::cpu;

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
