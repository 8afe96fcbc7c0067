#include "tuned/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/descriptor.hpp"
#include "io/input_error.hpp"
#include "io/output_file.hpp"

namespace lasolve::tuned {

namespace fs = std::filesystem;

std::string path_in_cache(const char* xdg_cache_home, const char* home) {
  constexpr const char* file = "/lasolve/tuned.json";
  if (xdg_cache_home && xdg_cache_home[0] == '/') return xdg_cache_home + std::string(file);
  return home && *home ? home + std::string("/.cache") + file : "";
}

std::string path_in_cache() { return path_in_cache(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME")); }

Kept read(const std::string& path) {
  constexpr std::uintmax_t most_bytes = 16 << 20;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty() || status.type() == fs::file_type::not_found) return {};
  const auto ignored = [&](const std::string& why) { return Kept{{}, why + "; it is ignored"}; };
  if (status.type() == fs::file_type::none) return ignored(fmt::format("{}: error: {}", path, error.message()));
  if (status.type() != fs::file_type::regular) return ignored(fmt::format("{}: error: it is no file", path));
  if (fs::file_size(path, error) > most_bytes) return ignored(fmt::format("{}: error: it is too large", path));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return ignored(fmt::format("{}: error: it cannot be read", path));
  try {
    return {entries_of(text.str(), path)};
  } catch (const io::InputError& e) {
    return ignored(e.what());
  }
}

void require_place(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  const bool made = fs::create_directories(folder, error);
  if (error) throw io::OutputError(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  if (made) chmod(folder.c_str(), S_IRWXU);
  io::require_writable(path);
}

void write(const std::string& path, const std::vector<Entry>& entries) {
  require_place(path);
  io::OutputFile file(path, false);
  file.append(as_json(entries).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

std::string add(const std::string& path, Entry entry) {
  const io::Descriptor folder(open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) flock(folder.number(), LOCK_EX);  // until it is closed
  Kept kept = read(path);
  put(kept.entries, std::move(entry));
  write(path, kept.entries);
  return kept.complaint;
}

bool remove(const std::string& path) {
  std::error_code error;
  const bool was_there = fs::remove(path, error);
  if (error) throw io::OutputError(fmt::format("cannot remove {}: {}", path, error.message()));
  return was_there;
}

}  // namespace lasolve::tuned
