#include "cli/compare/earlier.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compare/record.hpp"
#include "io/input_error.hpp"

namespace lasolve::cli {

std::optional<Earlier> earlier_if_any(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return Earlier{compare::comparison_of(text.str(), path), compare::environment_in(text.str())};
}

Earlier earlier(const std::string& path) {
  auto found = earlier_if_any(path);
  if (!found) throw io::InputError(fmt::format("{}: error: cannot open: {}", path, std::strerror(errno)));
  return std::move(*found);
}

std::string difference(const Json& a, const Json& b) {
  for (const char* what :
       {"processor", "threads", "cuda_devices", "driver", "cuda_toolkit", "compiler", "flags", "lasolve"})
    if (a.value(what, Json()) != b.value(what, Json()))
      return fmt::format("{}: {} then, {} now", what, a.value(what, Json()).dump(), b.value(what, Json()).dump());
  return "";
}

}  // namespace lasolve::cli
