#include "tuned/kept.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "core/range.hpp"
#include "io/descriptor.hpp"
#include "io/input_error.hpp"
#include "io/output_file.hpp"
#include "lasolve/names.hpp"

namespace lasolve::tuned {

namespace {

constexpr int schema_version = 1;

Json object(const Setting& s, double seconds) {
  Json json = as_json(s);
  json["seconds"] = seconds;
  return json;
}

Json object(const Entry& e) {
  const Machine& m = e.key.machine;
  return {{"device", name_of(m.device)},
          {"name", m.name},
          {"threads", m.threads},
          {"capability", m.capability},
          {"driver", m.driver},
          {"lasolve", m.version},
          {"build", m.build},
          {"backends", e.backends},
          {"date", e.date},
          {"n", e.key.n},
          {"factorization", name_of(e.key.method)},
          {"precision", name_of(e.key.precision)},
          {"accuracy", e.key.accuracy > 0 ? Json(e.key.accuracy) : Json(nullptr)},
          {"default", object(e.by_default, e.default_seconds)},
          {"chosen", object(e.chosen, e.seconds)},
          {"speedup", e.speedup},
          {"speedup_low", e.speedup_low},
          {"speedup_high", e.speedup_high}};
}

template <class Enum>
Enum word_in(const Json& json, const char* field) {
  const auto value = parse<Enum>(json.at(field).get<std::string>());
  if (!value || *value == Enum::automatic) throw Unfit(fmt::format("{} is {}", field, json.at(field).dump()));
  return *value;
}

double positive_in(const Json& json, const char* field) {
  const double x = json.at(field).get<double>();
  if (!(x > 0) || !std::isfinite(x)) throw Unfit(fmt::format("{} is {}", field, json.at(field).dump()));
  return x;
}

std::int64_t whole_in(const Json& json, const char* field, std::int64_t least, std::int64_t most) {
  const Json& value = json.at(field);
  if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw Unfit(fmt::format("{} is {}", field, value.dump()));
  return value.get<std::int64_t>();
}
std::int64_t size_in(const Json& json, const char* field) { return whole_in(json, field, 1, never); }
int count_in(const Json& json, const char* field) {
  return int(whole_in(json, field, 0, std::numeric_limits<int>::max()));
}

/// It is shown to people.
std::string date_in(const Json& json) {
  auto date = json.at("date").get<std::string>();
  if (date.size() != std::size("dddd-dd-dd") - 1 || date.find_first_not_of("0123456789-") != date.npos)
    throw Unfit(fmt::format("date is {}", json.at("date").dump()));
  return date;
}

/// Older files lack fields.
bool is_there(const Json& json, const char* field) {
  const auto it = json.find(field);
  return it != json.end() && !it->is_null();
}

Setting setting_in(const Json& json) {
  Setting s{json.at("gemm"), word_in<Schedule>(json, "schedule"), size_in(json, "block_size")};
  if (is_there(json, "small_gemm"))
    s.small = json.at("small_gemm"), s.small_below = positive_in(json, "small_below_flops");
  if (is_there(json, "precision")) s.precision = word_in<Precision>(json, "precision");
  return s;
}

Entry entry_in(const Json& json) {
  Entry e;
  e.key.machine = {word_in<Device::Kind>(json, "device"),
                   json.at("name"),
                   count_in(json, "threads"),
                   count_in(json, "capability"),
                   json.at("driver"),
                   json.at("lasolve"),
                   json.at("build")};
  e.key.precision = word_in<Precision>(json, "precision");
  e.key.method = word_in<Method>(json, "factorization");
  e.key.n = size_in(json, "n");
  if (is_there(json, "accuracy")) e.key.accuracy = positive_in(json, "accuracy");
  e.backends = json.at("backends").get<std::vector<std::string>>();
  e.date = date_in(json);
  e.by_default = setting_in(json.at("default")), e.chosen = setting_in(json.at("chosen"));
  e.default_seconds = positive_in(json.at("default"), "seconds"), e.seconds = positive_in(json.at("chosen"), "seconds");
  e.speedup = positive_in(json, "speedup");
  e.speedup_low = positive_in(json, "speedup_low"), e.speedup_high = positive_in(json, "speedup_high");
  return e;
}

}  // namespace

namespace fs = std::filesystem;

std::string difference(const Machine& m, const Machine& here) {
  const auto text = [](const char* what, const auto& there, const auto& now) {
    return fmt::format("{}: {}, not {}", what, there, now);
  };
  if (m.device != here.device) return text("device", name_of(m.device), name_of(here.device));
  if (m.name != here.name) return text("device", m.name, here.name);
  if (m.capability != here.capability) return text("compute capability", m.capability, here.capability);
  if (m.driver != here.driver) return "driver: another";
  if (m.threads != here.threads) return text("threads", m.threads, here.threads);
  if (m.version != here.version) return text("lasolve", m.version, here.version);
  if (m.build != here.build) return "build: with other flags";
  return "";
}

Json as_json(const Setting& s) {
  const bool has_small = !s.small.empty();
  return {{"gemm", s.gemm},
          {"schedule", name_of(s.schedule)},
          {"block_size", s.block_size},
          {"small_gemm", has_small ? Json(s.small) : Json(nullptr)},
          {"small_below_flops", has_small ? Json(s.small_below) : Json(nullptr)},
          {"precision", s.precision == Precision::automatic ? Json(nullptr) : Json(name_of(s.precision))}};
}

Json as_json(const std::vector<Entry>& entries) {
  Json results = Json::array();
  for (const Entry& e : entries) results.push_back(object(e));
  return {{"schema_version", schema_version}, {"made_by", "lasolve tune"}, {"results", results}};
}

std::vector<Entry> entries_of(const std::string& text, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    return io::InputError(fmt::format("{}: error: expected what lasolve tune keeps, found {}", name, what));
  };
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("made_by", Json()) != "lasolve tune") throw Unfit("other JSON");
    if (json.at("schema_version") != schema_version)
      throw Unfit(fmt::format("schema_version {}", json.at("schema_version").dump()));
    std::vector<Entry> entries;
    for (const Json& result : json.at("results")) entries.push_back(entry_in(result));
    return entries;
  } catch (const Json::parse_error& e) {
    throw refuse(fmt::format("no JSON: byte {}", e.byte));
  } catch (const Json::exception& e) {
    throw refuse(fmt::format("a part of it: {}", e.what()));
  } catch (const Unfit& e) {
    throw refuse(e.what());
  }
}

void put(std::vector<Entry>& entries, Entry entry) {
  auto* const same = find_in(entries, [&](const Entry& e) { return e.key == entry.key; });
  if (!same)
    entries.push_back(std::move(entry));
  else
    *same = std::move(entry);
}

const Entry* nearest(const std::vector<Entry>& entries, const Key& key) {
  constexpr double farthest = 2;
  const Entry* best = nullptr;
  double least = farthest;
  for (const Entry& e : entries) {
    Key same = e.key;
    same.n = key.n;
    if (!(same == key) || key.n < 1) continue;
    const double a = double(e.key.n), b = double(key.n), ratio = std::max(a, b) / std::min(a, b);
    if (ratio < least || (ratio == least && (!best || e.key.n < best->key.n))) best = &e, least = ratio;
  }
  return best;
}

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

void require_writable_path(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  const bool made = fs::create_directories(folder, error);
  if (error) throw io::OutputError(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  if (made) chmod(folder.c_str(), S_IRWXU);
  io::require_writable(path);
}

void write(const std::string& path, const std::vector<Entry>& entries) {
  require_writable_path(path);
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
