// What `lasolve tune` has found, as it is kept: as JSON and back, and which of it a system may use.
#pragma once

#include "bench/json.hpp"
#include "tuned/setting.hpp"

namespace lasolve::tuned {

/// Where times are what they were: the device and what runs on it.
struct Machine {
  Device::Kind device = Device::cpu;
  std::string name;            ///< of the processor, or of the CUDA device
  int threads = 0;             ///< of the host; 0 for CUDA
  int capability = 0;          ///< of a CUDA device, 10·major + minor
  std::string driver;          ///< of a CUDA device
  std::string version, build;  ///< of lasolve, and how it was compiled
  bool operator==(const Machine&) const = default;
};
/// What differs of two, such as "threads: 2, not 4"; empty: nothing.
std::string difference(const Machine&, const Machine& here);

/// Of which systems a result is.
struct Key {
  Machine machine;
  Precision precision = Precision::fp64;  ///< one of solve_precisions
  Method method = Method::lu;
  std::int64_t n = 0;
  double accuracy = 0;  ///< that is asked for, and leaves the precision open; 0: none
  bool operator==(const Key&) const = default;
};

struct Entry {
  Key key;
  std::vector<std::string> backends;  ///< among which it was chosen
  std::string date;                   ///< "2026-11-23"
  Setting by_default, chosen;         ///< the same, where nothing was faster
  double default_seconds = 0, seconds = 0;
  double speedup = 1, speedup_low = 1, speedup_high = 1;  ///< over the default, and the interval of the test

  bool is_default() const { return chosen == by_default; }
};

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
void require_writable_path(const std::string& path);
/// Under a temporary name, then renamed. Throws io::OutputError.
void write(const std::string& path, const std::vector<Entry>&);
/// Puts an entry into the file, while other processes that do so wait. Returns why what was there is ignored, and replaced. Throws
/// io::OutputError.
std::string add(const std::string& path, Entry);
/// Whether there was one. Throws io::OutputError.
bool remove(const std::string& path);

/// The fields "gemm", "schedule", "block_size", "small_gemm" and "small_below_flops", which are null where there is no such backend, and
/// "precision", which is null where none was chosen.
Json as_json(const Setting&);
Json as_json(const std::vector<Entry>&);
/// Of a text that as_json() made; `name` is how it is called in errors. Throws io::InputError where it is none.
std::vector<Entry> entries_of(const std::string& text, const std::string& name);

/// Takes the place of the entry with the same key, if there is one.
void put(std::vector<Entry>&, Entry);

/// The entry for a system: of the same machine, precision and method the one whose n has the smallest ratio to that of the system,
/// which is at most 2; of two that are equally near, the smaller. Null: there is none.
const Entry* nearest(const std::vector<Entry>&, const Key&);

}  // namespace lasolve::tuned
