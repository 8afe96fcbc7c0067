#include "cli/compare/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>

#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "compare/record.hpp"
#include "io/generators.hpp"
#include "io/input_error.hpp"
#include "worker/protocol.hpp"

namespace lasolve::cli {

using compare::Comparison;
using compare::Row;

namespace {

[[noreturn]] void throw_again(int code, const std::string& what) {
  switch (code) {
    case usage:
      throw io::GeneratorError(what);
    case bad_input:
      throw io::InputError(what);
    case machine:
      throw MachineError(what);
    default:
      throw std::runtime_error(what);
  }
}

std::vector<std::string> command_line(const CompareRequest& request, const std::vector<Contestant>& all,
                                      std::int64_t n) {
  std::vector<std::string> words = worker::command_of("size");
  words.insert(words.end(), {std::to_string(n), std::to_string(all.size())});
  for (const Contestant& c : all) words.push_back(c.fault);
  words.insert(words.end(), request.words.begin(), request.words.end());
  return words;
}

/// The contestant gets the fault, if it is a plugin kernel. Else any of these may have spoilt the process.
void blame(const worker::Ending& end, std::vector<Contestant>& all) {
  const bool is_whole = end.kind == worker::Ending::spoilt && end.how.starts_with("in a timed");
  const std::string how = is_whole ? end.how : "in a timed solve it " + end.how;
  if (end.running.empty()) throw MachineError("the process that measures has not begun: " + how);
  const Contestant running = all.at(std::stoul(end.running));
  bool found = false;
  for (Contestant& c : all) {
    if (!is_plugin(c.name) || !c.fault.empty() || (is_plugin(running.name) && c.name != running.name)) continue;
    c.fault = is_plugin(running.name) ? how : fmt::format("with it beside, {}: {}", running.name, how);
    found = true;
  }
  if (!found) throw MachineError(fmt::format("{}: {}", running.name, how));
}

}  // namespace

std::vector<Row> run_size_in_worker(const CompareRequest& request, std::vector<Contestant>& all, std::int64_t n,
                                    compare::Size& size, const std::function<void(double)>& progress) {
  const int orphans = worker::orphans_ended();
  for (;;) {
    std::optional<Comparison> measured;
    const auto on_line = [&](const Json& m) {
      if (m.contains("threw")) throw_again(m["threw"], m["text"]);
      if (m.contains("progress") && progress) progress(m["progress"]);
      if (m.contains("measured")) measured = compare::comparison_of(m["measured"].dump(), "the process that measures");
      return !measured;
    };
    {
      worker::Child child(command_line(request, all, n));
      const worker::Ending end = worker::Supervisor(request.patience).listen(child, on_line);
      if (!measured) blame(end, all);
    }
    if (!measured) continue;
    size = measured->sizes.at(0);
    if (const int left = worker::orphans_ended() - orphans; left > 0)
      size.notes.push_back(fmt::format("plugin kernels left {} {} running, which {} ended; times may be with {}", left,
                                       left == 1 ? "process" : "processes", left == 1 ? "was" : "were",
                                       left == 1 ? "it" : "them"));
    return std::move(measured->rows);
  }
}

int size_worker(const std::vector<std::string>& words) {
  const auto threw = [](int code, const char* what) { worker::tell({{"threw", code}, {"text", what}}); };
  try {
    std::size_t w = 0;
    const std::int64_t n = std::stoll(words.at(w++));
    std::vector<std::string> faults(std::stoul(words.at(w++)));
    for (std::string& fault : faults) fault = words.at(w++);
    std::vector<const char*> arguments;
    for (; w < words.size(); ++w) arguments.push_back(words[w].c_str());
    const CompareRequest request = parse_compare(int(arguments.size()), arguments.data());
    std::vector<Contestant> all = contestants_of(request).all;
    require(all.size() == faults.size(), "these are not the contestants of the comparison");
    for (std::size_t c = 0; c < all.size(); ++c) all[c].fault = faults[c];
    const Watch watch{
        .progress = worker::tell_progress,
        .begins = [](std::size_t c,
                     std::int64_t order) { worker::tell_run(std::to_string(c), std::pow(double(order), 3) / 3); },
        .failed =
            [&](std::size_t c, const std::string& how) {
              if (!is_plugin(all[c].name) || all[c].options.device.kind == Device::cpu) return;
              worker::tell_spoilt(std::to_string(c), how.starts_with("in a timed") ? how : "in a timed solve: " + how);
              std::_Exit(0);
            }};
    Comparison measured;
    measured.setting = request.setting;
    measured.sizes.emplace_back();
    measured.rows = run_size(request, all, request.matrix_of(n), measured.sizes.back(), watch);
    worker::tell({{"measured", compare::as_json(measured, Json::object())}});
  } catch (const io::GeneratorError& e) {
    threw(usage, e.what());
  } catch (const io::InputError& e) {
    threw(bad_input, e.what());
  } catch (const MachineError& e) {
    threw(machine, e.what());
  } catch (const std::bad_alloc&) {
    threw(machine, "not enough host memory");
  } catch (const std::exception& e) {
    threw(internal, e.what());
  }
  return 0;
}

}  // namespace lasolve::cli
