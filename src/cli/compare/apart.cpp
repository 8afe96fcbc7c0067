#include "cli/compare/apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "bench/child.hpp"
#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "compare/record.hpp"
#include "io/generators.hpp"
#include "io/input_error.hpp"

namespace lasolve::cli {

using compare::Comparison;
using compare::Row;

namespace {

/// What the child says: the same program reads it.
struct ApartMessage {
  enum Kind : int {
    runs,      // a contestant begins with a solve of order `n`
    progress,  // `share` of the size is done
    spoilt,    // a contestant has spoilt the process or the device: the text says how
    threw,     // an exception, for which the tool ends with `code`: the text is what it says
    measured   // the text is the JSON of a comparison
  } kind = runs;
  int contestant = -1, code = 0;
  std::int64_t n = 0;
  double share = 0;
  std::size_t text_bytes = 0;
};

void tell(ApartMessage m, const std::string& text = {}) {
  m.text_bytes = text.size();
  bench::tell_parent(&m, sizeof m);
  bench::tell_parent(text.data(), text.size());
}

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

/// A contestant that did not come back from a run, and why.
struct LostContestant {
  int contestant;
  std::string how;
};

/// Listens to a child until it has measured, or is lost.
class ApartConversation {
 public:
  ApartConversation(double patience, const std::function<void(double)>& progress)
      : patience_(patience), progress_(progress) {}

  std::optional<LostContestant> hold(bench::Child& child) {
    while (measured_.empty()) {
      ApartMessage m;
      std::string text;
      bench::Child::Heard heard = child.listen(&m, sizeof m, seconds());
      if (heard == bench::Child::message) {
        text.resize(m.text_bytes);
        heard = child.listen(text.data(), text.size(), forever);
      }
      if (heard == bench::Child::nothing)
        return LostContestant{running_, fmt::format("in a timed solve it gave no answer for {:.3g} s", seconds())};
      if (heard == bench::Child::end) return LostContestant{running_, "in a timed solve it " + child.end_of_it().how};
      if (m.kind == ApartMessage::spoilt) return LostContestant{m.contestant, text};
      hear(m, std::move(text));
    }
    return std::nullopt;
  }
  const std::string& measured() const { return measured_; }

 private:
  static constexpr double forever = 1e9;
  static constexpr double slowest_multiplication = 20e-9;

  /// For a solve; what comes before the first is the tool's.
  double seconds() const { return running_ < 0 ? forever : patience_ + slowest_multiplication * std::pow(n_, 3) / 3; }

  void hear(const ApartMessage& m, std::string text) {
    switch (m.kind) {
      case ApartMessage::runs:
        running_ = m.contestant, n_ = double(m.n);
        return;
      case ApartMessage::progress:
        if (progress_) progress_(m.share);
        return;
      case ApartMessage::threw:
        throw_again(m.code, text);
      case ApartMessage::measured:
        measured_ = std::move(text);
        return;
      case ApartMessage::spoilt:
        return;
    }
  }

  double patience_;
  const std::function<void(double)>& progress_;
  int running_ = -1;
  double n_ = 0;
  std::string measured_;
};

std::vector<std::string> command_line(const CompareRequest& request, const std::vector<Contestant>& all,
                                      std::int64_t n) {
  std::vector<std::string> words = {"/proc/self/exe", "compare", "size"};
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(loaded_in_words());
  add({std::to_string(n), std::to_string(all.size())});
  for (const Contestant& c : all) words.push_back(c.fault);
  add(request.words);
  return words;
}

/// The contestant gets the fault, if it is a plugin kernel. Else any of these may have spoilt the process.
void blame(const LostContestant& loss, std::vector<Contestant>& all) {
  if (loss.contestant < 0) throw MachineError("the process that measures has not begun: " + loss.how);
  const Contestant running = all.at(std::size_t(loss.contestant));
  bool found = false;
  for (Contestant& c : all) {
    if (!is_plugin(c.name) || !c.fault.empty() || (is_plugin(running.name) && c.name != running.name)) continue;
    c.fault = is_plugin(running.name) ? loss.how : fmt::format("with it beside, {}: {}", running.name, loss.how);
    found = true;
  }
  if (!found) throw MachineError(fmt::format("{}: {}", running.name, loss.how));
}

}  // namespace

std::vector<Row> run_size_apart(const CompareRequest& request, std::vector<Contestant>& all, std::int64_t n,
                                compare::Size& size, const std::function<void(double)>& progress) {
  const int orphans = bench::orphans_ended();
  for (;;) {
    ApartConversation conversation(request.patience, progress);
    std::optional<LostContestant> loss;
    {
      bench::Child child(command_line(request, all, n));
      loss = conversation.hold(child);
    }
    if (loss) {
      blame(*loss, all);
      continue;
    }
    Comparison measured = compare::comparison_of(conversation.measured(), "the process that measures");
    size = measured.sizes.at(0);
    if (const int left = bench::orphans_ended() - orphans; left > 0)
      size.notes.push_back(fmt::format("plugin kernels left {} {} running, which {} ended; times may be with {}", left,
                                       left == 1 ? "process" : "processes", left == 1 ? "was" : "were",
                                       left == 1 ? "it" : "them"));
    return std::move(measured.rows);
  }
}

int run_size_as_told(const std::vector<std::string>& words) {
  bench::be_a_child();
  const auto threw = [](int code, const char* what) { tell({.kind = ApartMessage::threw, .code = code}, what); };
  try {
    std::size_t w = load_as_told(words);
    const std::int64_t n = std::stoll(words.at(w++));
    std::vector<std::string> faults(std::stoul(words.at(w++)));
    for (std::string& fault : faults) fault = words.at(w++);
    std::vector<const char*> arguments;
    for (; w < words.size(); ++w) arguments.push_back(words[w].c_str());
    const CompareRequest request = parse_compare(int(arguments.size()), arguments.data());
    std::vector<Contestant> all = contestants_of(request);
    require(all.size() == faults.size(), "these are not the contestants of the comparison");
    for (std::size_t c = 0; c < all.size(); ++c) all[c].fault = faults[c];
    const Watch watch{
        .progress = [](double share) { tell({.kind = ApartMessage::progress, .share = share}); },
        .begins = [](std::size_t c,
                     std::int64_t order) { tell({.kind = ApartMessage::runs, .contestant = int(c), .n = order}); },
        .failed =
            [&](std::size_t c, const std::string& how) {
              if (!is_plugin(all[c].name) || all[c].options.device.kind == Device::cpu) return;
              tell({.kind = ApartMessage::spoilt, .contestant = int(c)},
                   how.starts_with("in a timed") ? how : "in a timed solve: " + how);
              std::_Exit(0);
            }};
    Comparison measured;
    measured.setting = request.setting;
    measured.sizes.emplace_back();
    measured.rows = run_size(request, all, request.matrix_of(n), measured.sizes.back(), watch);
    tell({.kind = ApartMessage::measured}, compare::as_json(measured, compare::Json::object()).dump());
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
