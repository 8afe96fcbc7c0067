#include "compare/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compare/attribution.hpp"
#include "compare/beside.hpp"
#include "core/range.hpp"
#include "lasolve/names.hpp"

namespace lasolve::compare {

namespace {

/// Characters, of which UTF-8 has several bytes.
std::size_t width(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string spread(const Row& r) {
  return r.seconds.size() > 1 ? percent(bench::interquartile_range(r.seconds) / r.median()) : "-";
}

std::string in_words(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

std::string error(std::optional<double> e) { return e ? fmt::format("{:.1e}", *e) : "-"; }

/// What is the same of many rows is told beside the table.
std::string failure_in_brief(const Row& r) {
  if (r.failure_kind == Row::in_validation) return "wrong in validation";
  std::string words = r.failure_kind.empty() ? r.failure : r.failure_kind;
  if (!r.failure_kind.empty()) std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string result_of(const Row& r) {
  if (!r.passed()) return "FAIL: " + failure_in_brief(r);
  return (r.fell_back_to.empty() ? "PASS" : fmt::format("PASS by {} factors", r.fell_back_to)) +
         (r.warnings.empty() ? "" : ", with a warning");
}

std::string speed_up(const Row& row, const Row& first) {
  if (!row.timed() || !first.timed()) return "-";
  return &row == &first ? "1.00 x" : speed_up_in_words(beside(row, first));
}

std::string against_baseline(const Row& r) {
  return r.against_baseline         ? compare::in_words(*r.against_baseline)
         : r.why_no_verdict.empty() ? "-"
                                    : r.why_no_verdict;
}

/// What its lines are about, if there is one.
std::string legend_of_verdicts(const Comparison& all) {
  const auto any = [&](auto is_so) {
    return any_of(all.rows, [&](const Row& r) { return r.against_baseline && is_so(*r.against_baseline); });
  };
  std::string text =
      "against the baseline: the shift of the time and its 99.5 % interval; below 1.75 % nothing is FASTER or SLOWER\n";
  if (any([](const bench::Change& c) { return c.of_processors; }))
    text += "of processor time: other programs ran, and what they keep from a run is not in the time that it had\n";
  if (any([](const bench::Change& c) { return bench::word_of(c) == std::string("unknown"); }))
    text +=
        "UNKNOWN: nothing was found, but a slowdown of 3 % might not have been: up to what noise hides, none could be "
        "told from noise, nor from what became of the machine\n";
  if (any([](const bench::Change& c) { return std::abs(c.machine) >= 0.0005; }))
    text += "of all rows: what the other rows of a size moved by as well, as far as the machine may have done it\n";
  return text;
}

/// The columns that tell rows apart, which are the first of each table.
class Identity {
 public:
  explicit Identity(const Comparison& all) : options_(all.differing_options()) {}

  std::vector<Table::Column> columns() const {
    std::vector<Table::Column> all = {{"n"}, {"gemm", true}, {"precision", true}};
    for (const std::string& option : options_) all.push_back({option, true});
    return all;
  }
  std::vector<std::string> of(const Row& r) const {
    std::vector<std::string> cells = {std::to_string(r.key.n), r.key.gemm, r.key.precision};
    for (const std::string& option : options_)
      cells.push_back(r.is_baseline_solver && !r.key.options.count(option) ? "-" : option_of(r.key, option));
    return cells;
  }

 private:
  std::vector<std::string> options_;
};

template <class T>
void extend(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::string short_seconds(double s) {
  const auto [scale, unit] = s < 1e-3 ? std::pair(1e6, "µs") : s < 1 ? std::pair(1e3, "ms") : std::pair(1.0, "s");
  const double x = scale * s;
  return fmt::format("{:.{}f} {}", x, x < 10 ? 2 : x < 100 ? 1 : 0, unit);
}

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(width(column.title));
  for (const auto& line : table.lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width(line[c]));
  std::string text;
  const auto add = [&](auto cell) {
    std::string line;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string word = cell(c), space(widths[c] - width(word), ' ');
      line += (c ? "  " : "") + (table.columns[c].left ? word + space : space + word);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add([&](std::size_t c) { return table.columns[c].title; });
  for (const auto& line : table.lines) add([&](std::size_t c) { return line[c]; });
  return text;
}

std::string as_markdown(const Table& table) {
  std::string text = "|", rule = "|";
  for (const auto& column : table.columns) {
    text += fmt::format(" {} |", column.title);
    rule += column.left ? "---|" : "---:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& line : table.lines) {
    text += "|";
    for (const auto& word : line) {
      std::string safe;
      for (const char c : word) safe += c == '|' ? std::string("\\|") : c == '\n' ? " " : std::string(1, c);
      text += fmt::format(" {} |", safe);
    }
    text += "\n";
  }
  return text;
}

std::string in_words(const bench::Change& c) {
  if (!std::isfinite(c.high)) return "UNKNOWN (too few runs)";
  std::string word = bench::word_of(c);
  std::transform(word.begin(), word.end(), word.begin(), [](char x) { return char(x - 'a' + 'A'); });
  const std::string by = fmt::format("{:+.1f} % ({:+.1f} .. {:+.1f})", 100 * c.shift, 100 * c.low, 100 * c.high);
  const std::string machine =
      std::abs(c.machine) < 0.0005 ? "" : fmt::format(" beside {:+.1f} % of all rows", 100 * c.machine);
  const bool hides = c.kind == bench::Change::same && !bench::tells(c);
  const std::string of = c.of_processors ? " of processor time" : "";
  return word + " " + by + of + machine + (hides ? fmt::format("; noise hides up to {:+.0f} %", 100 * c.visible) : "");
}

std::string speed_up_in_words(const bench::Change& c) {
  const std::string by = fmt::format("{:.2f} x", 1 / (1 + c.shift));
  if (!std::isfinite(c.high)) return by + ", one run";
  return fmt::format("{} ({:.2f} .. {:.2f}){}", by, 1 / (1 + c.high), 1 / (1 + c.low),
                     c.kind != bench::Change::same ? ""
                     : bench::tells(c)             ? ", the same"
                                                   : ", not told apart");
}

std::vector<std::string> orders_of(const Comparison& all) {
  std::vector<std::string> orders;
  for (const Size& size : all.sizes) {
    std::vector<const Row*> rows = all.at(size.n);
    std::erase_if(rows, [](const Row* r) { return !r->timed(); });
    std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->median() < b->median(); });
    if (rows.size() < 3) continue;  // the table has it
    const bool several = any_of(rows, [&](const Row* r) { return r->key.precision != rows[0]->key.precision; });
    std::string text = fmt::format("n = {}: ", size.n);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) text += beside(*rows[i], *rows[i - 1]).kind == bench::Change::slower ? " < " : " = ";
      text += all.label_of(*rows[i]) + (several ? " in " + rows[i]->key.precision : "");
    }
    orders.push_back(std::move(text));
  }
  return orders;
}

Table table_of(const Comparison& all, bool with_baseline) {
  struct Cell {
    Table::Column column;
    std::string text;
  };
  const auto cells_of = [&](const Row& r) {
    const bool ours = r.timed() && !r.is_baseline_solver;
    std::vector<Cell> cells = {
        {{"solve"}, r.timed() ? short_seconds(r.median()) : "-"},
        {{"runs"}, std::to_string(r.seconds.size())},
        {{"spread"}, r.timed() ? spread(r) : "-"},
        {{"speed-up"}, speed_up(r, *all.at(r.key.n).front())},
        {{"GEMM"}, ours ? short_seconds(r.gemm_seconds()) : "-"},
        {{"share"}, ours ? percent(r.gemm_share()) : "-"},
        {{"GEMM GFLOP/s"}, ours && r.gemm_flops() > 0 ? fmt::format("{:.1f}", r.gemm_gflops()) : "-"},
        {{"backward error"}, error(r.backward_error)},
        {{"componentwise"}, error(r.componentwise_error)},
        {{"forward error"}, error(r.forward_error)},
        {{"result", true}, result_of(r)}};
    if (all.setting.copies)
      cells.insert(cells.begin() + 1,
                   {{"from host"}, r.seconds_from_host.empty() ? "-" : short_seconds(r.median_from_host())});
    if (with_baseline) cells.push_back({{"against the baseline", true}, against_baseline(r)});
    return cells;
  };
  const Identity identity(all);
  Table table;
  for (const Row& r : all.rows) {
    table.columns = identity.columns();
    table.lines.push_back(identity.of(r));
    for (Cell& cell : cells_of(r)) table.columns.push_back(cell.column), table.lines.back().push_back(cell.text);
  }
  return table;
}

std::string legend_of(const Comparison& all, bool with_baseline) {
  const Setting& s = all.setting;
  const bool overlap =
      any_of(all.rows, [](const Row& r) { return r.timed() && !r.is_baseline_solver && !free_updates(r).exact; });
  const bool timed = any_of(all.rows, [](const Row& r) { return r.timed() && !r.tasks.empty(); });
  std::string text = fmt::format(
      "solve: median wall time of a whole solve, with {} thread{} of the host; spread: of the middle half of its "
      "runs\n",
      s.threads, s.threads == 1 ? "" : "s");
  text +=
      "speed-up: over the first row of the size, and its 99.5 % interval; visits, in which all rows ran, are pairs; "
      "where they are fewer than 9, the ratios of any two runs\n"
      "GEMM: median time of the backend's updates\n"
      "backward error: in the infinity norm; componentwise: of each element, max |b - A x|_i / (|A||x| + |b|)_i; "
      "forward error: of x, which is known\n";
  if (s.copies)
    text +=
        "from host: the same where A begins in pageable memory of the host, and not on the device; B and X are on the "
        "host in both\n";
  if (overlap)
    text += timed ? "GEMM is the time in which at least one update ran: phases overlap on CUDA\n"
                  : "GEMM is busy time, without the updates within panels: phases overlap on CUDA; --attribution times "
                    "each update\n";
  text += fmt::format(
      "runs: {} at most, in {}{} visits, in random order (seed {}); fewer where the median is known to {:.2g} %, or "
      "after {:.3g} s\n",
      s.rounds, s.least_visits < s.visits ? fmt::format("{} to ", s.least_visits) : "", s.visits, s.seed, 100 * s.noise,
      s.enough_seconds);
  return text + (with_baseline ? legend_of_verdicts(all) : "");
}

Table phase_table(const Comparison& all) {
  constexpr Phase shown[] = {Phase::to_device, Phase::panel,  Phase::swap,    Phase::trsm, Phase::gemm,
                             Phase::solve,     Phase::refine, Phase::to_host, Phase::other};
  const Identity identity(all);
  Table table{identity.columns()};
  extend(table.columns, {{"were updates free"}, {"speed-up then"}});
  if (!all.limits.empty()) table.columns.push_back({"at the roofline"});
  table.columns.push_back({"wall"});
  std::vector<Phase> phases;
  for (const Phase p : shown)
    if (any_of(all.rows, [=](const Row& r) { return r.phases.seconds_of(p) > 0; }))
      phases.push_back(p), table.columns.push_back({name_of(p)});
  for (const Row& r : all.rows) {
    if (!r.timed() || r.is_baseline_solver) continue;
    std::vector<std::string> line = identity.of(r);
    const FreeUpdates free = free_updates(r);
    const double seconds = free.seconds.value_or(0);
    line.push_back(free.seconds ? (free.exact ? "" : "at least ") + short_seconds(seconds) : "-");
    line.push_back(seconds > 0 ? fmt::format("{}{:.2f} x", free.exact ? "" : "at most ", r.total_seconds / seconds)
                               : "-");
    if (!all.limits.empty()) {
      const auto roof = all.roof_of(r);
      const auto seconds = roof ? seconds_at_roof(r, *roof) : std::nullopt;
      line.push_back(seconds ? (free.exact ? "" : "at least ") + short_seconds(*seconds) : "-");
    }
    line.push_back(short_seconds(r.total_seconds));
    const auto exclusive = exclusive_seconds(r);
    for (const Phase p : phases)
      line.push_back(exclusive ? fmt::format("{:.1f} %", 100 * (*exclusive)[std::size_t(p)] / r.total_seconds) : "-");
    table.lines.push_back(std::move(line));
  }
  return table;
}

Table update_table(const Comparison& all) {
  const Identity identity(all);
  Table table{identity.columns()};
  extend(table.columns, {{"m"}, {"columns"}, {"k"}, {"updates"}, {"time"}, {"share"}, {"GFLOP/s"}});
  if (!all.limits.empty()) table.columns.push_back({"of the roofline"});
  for (const Row& r : all.rows) {
    const auto roof = all.roof_of(r);
    const auto floor = [&](const TaskTime& t) { return roof ? floor_seconds(t, r.key.precision, *roof) : 0; };
    std::vector<TaskTime> updates;  // with those after it whose m is more than half of its own
    std::vector<int> counts;
    std::vector<double> floors;
    for (TaskTime t : r.tasks) {
      if (!is_update(t) || t.phase != Phase::gemm) continue;
      t.seconds = t.usual_seconds(), t.quartiles = {};
      auto* const like = find_in(updates, [&](const TaskTime& u) {
        return u.k == t.k && 2 * t.m > u.m && t.m <= u.m && 2 * t.n > u.n && t.n <= u.n;
      });
      if (!like) {
        updates.push_back(t), counts.push_back(1), floors.push_back(floor(t));
        continue;
      }
      const std::size_t at = std::size_t(like - updates.data());
      like->seconds += t.seconds, like->flops += t.flops, ++counts[at], floors[at] += floor(t);
    }
    for (std::size_t u = 0; u < updates.size(); ++u) {
      const TaskTime& t = updates[u];
      table.lines.push_back(identity.of(r));
      extend(table.lines.back(),
             {std::to_string(t.m), std::to_string(t.n), std::to_string(t.k), std::to_string(counts[u]),
              short_seconds(t.seconds), fmt::format("{:.1f} %", 100 * t.seconds / r.total_seconds),
              fmt::format("{:.1f}", t.gflops())});
      if (!all.limits.empty())
        table.lines.back().push_back(floors[u] > 0 && t.seconds > 0 ? percent(floors[u] / t.seconds) : "-");
    }
  }
  return table;
}

Table environment_table(const Comparison& all, const Json& environment) {
  Table table{{{"what", true}, {"it was measured with", true}}};
  for (const auto& [name, value] : environment.items()) table.lines.push_back({name, in_words(value)});
  for (const Size& s : all.sizes)
    table.lines.push_back({fmt::format("matrix, n = {}", s.n), fmt::format("{}, hash {}", s.matrix, s.hash)});
  return table;
}

std::string as_csv(const Comparison& all, const Json& environment) {
  std::string text =
      "n,gemm,precision,device,peer,passed,runs,seconds,seconds_least,seconds_most,speedup_over_first,gemm_seconds,"
      "gemm_gflops,gemm_share,backward_error,seconds_if_updates_were_free,verdict,shift,failure,slowed,seconds_from_"
      "host,speedup_low,speedup_high,componentwise_backward_error,forward_error,warnings,options";
  const auto quoted = [](const std::string& words) {
    std::string safe;
    for (const char c : words) safe += c == '"' ? std::string("\"\"") : c == '\n' ? " " : std::string(1, c);
    return words.empty() ? "" : "\"" + safe + "\"";
  };
  std::string where_measured;
  for (const auto& [name, value] : environment.items())
    text += "," + name, where_measured += "," + quoted(in_words(value));
  text += environment.empty() ? "\n" : ",matrix_hash\n";
  for (const Row& r : all.rows) {
    const auto [least, median, most] = bench::spread_of(r.seconds);
    const Row& first = *all.at(r.key.n).front();
    const bool timed = r.timed(), ours = timed && !r.is_baseline_solver;
    const auto where = [](bool there, double x) { return there ? fmt::format("{}", x) : std::string(); };
    const auto over_first = timed && first.timed() ? std::optional(beside(r, first)) : std::nullopt;
    const bool has_interval = over_first && std::isfinite(over_first->high);
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", r.key.n,
                        quoted(r.key.gemm), r.key.precision, r.key.device, r.is_baseline_solver ? "yes" : "no",
                        r.passed() ? "yes" : "no", r.seconds.size(), where(timed, median), where(timed, least),
                        where(timed, most), where(bool(over_first), over_first ? 1 / (1 + over_first->shift) : 0),
                        where(ours, r.gemm_seconds()), where(ours, r.gemm_gflops()), where(ours, r.gemm_share()),
                        where(bool(r.backward_error), r.backward_error.value_or(0)),
                        where(ours && free_updates(r).seconds, free_updates(r).seconds.value_or(0)),
                        r.against_baseline ? bench::word_of(*r.against_baseline) : "",
                        where(bool(r.against_baseline), r.against_baseline ? r.against_baseline->shift : 0),
                        quoted(r.failure), where(bool(r.slowed), r.slowed.value_or(0)),
                        where(!r.seconds_from_host.empty(), r.median_from_host()),
                        where(has_interval, has_interval ? 1 / (1 + over_first->high) : 0),
                        where(has_interval, has_interval ? 1 / (1 + over_first->low) : 0),
                        where(bool(r.componentwise_error), r.componentwise_error.value_or(0)),
                        where(bool(r.forward_error), r.forward_error.value_or(0)),
                        quoted(fmt::format("{}", fmt::join(r.warnings, "; "))), quoted(options_in_words(r.key)));
    const Size* const size = environment.empty() ? nullptr : all.find_size(r.key.n);
    text += where_measured + (size ? "," + size->hash : "") + "\n";
  }
  return text;
}

}  // namespace lasolve::compare
