// The file in the user's cache directory.
#pragma once

#include "tuned/kept.hpp"

namespace lasolve::tuned {

/// $XDG_CACHE_HOME/lasolve/tuned.json, or $HOME/.cache/lasolve/tuned.json where the first is not set, or is no absolute path, which
/// does not count. Empty: neither is set. Source: XDG Base Directory Specification.
std::string path_in_cache(const char* xdg_cache_home, const char* home);
/// By the environment.
std::string path_in_cache();

struct Kept {
  std::vector<Entry> entries = {};
  std::string complaint = {};  ///< why a file that is there is ignored, with its name; empty: it is not
};
/// Of a file, or of none, which is no reason to complain.
Kept read(const std::string& path);

/// Makes the folders that are wanting, and throws io::OutputError with the reason where the file could not be written.
void require_place(const std::string& path);
/// Under a temporary name, then renamed. Throws io::OutputError.
void write(const std::string& path, const std::vector<Entry>&);
/// Puts an entry into the file, while other processes that do so wait. Returns why what was there is ignored, and replaced. Throws
/// io::OutputError.
std::string add(const std::string& path, Entry);
/// Whether there was one. Throws io::OutputError.
bool remove(const std::string& path);

}  // namespace lasolve::tuned
