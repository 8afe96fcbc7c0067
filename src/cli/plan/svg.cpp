
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/plan/plan.hpp"
#include "core/range.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

namespace {

double duration_of(const Task& task) {
  constexpr double per_flop_of_solve = 1.0 / 6, per_flop_of_update = 1.0 / 16, per_element = 4;
  switch (task.type->picture) {
    case TaskType::panel:
      return task.flops();
    case TaskType::solve:
      return per_flop_of_solve * task.flops();
    case TaskType::update:
      return per_flop_of_update * task.flops();
    case TaskType::interchange:
      return per_element * 2 * double(task.interchanges.m) * double(task.C.n);
    case TaskType::arrive:
      return per_element * double(task.C.m) * double(task.C.n);
    default:
      return 0;
  }
}

const char* class_of(const Task& task) {
  constexpr const char* classes[] = {"none", "arrive", "panel", "interchange", "solve", "update"};
  return classes[task.type->picture];
}

/// Whether it writes columns of the matrix, which are drawn.
bool is_drawn(const Task& task) { return !task.C.empty() && task.C.of == Resource::matrix; }

/// The measures of the picture, in its units.
constexpr double left = 70, right = 980, top = 84, height = 460, line_height = 22;

class Picture {
 public:
  explicit Picture(const DrawnPlan& drawn)
      : plan_(drawn.plan),
        schedule_(drawn.schedule),
        panel_(drawn.widths.panel),
        card_(drawn.card),
        times_(modelled_times(drawn.plan, drawn.waits, drawn.recipes.first().cards)),
        lanes_(lanes_of(drawn.plan)) {
    std::stable_sort(lanes_.begin(), lanes_.end(), [](Lane a, Lane b) { return a.card < b.card; });
    for (const Span& span : times_) last_ = std::max(last_, span.end);
    lanes_top_ = top + height + 40;
    bottom_ = lanes_top_ + line_height * double(lanes_.size()) + 62;
  }

  std::string text() {
    open();
    legend();
    matrix();
    lanes();
    caption();
    return text_ + "</svg>\n";
  }

 private:
  double x(double time) const { return left + (right - left) * time / last_; }
  double y(std::int64_t column) const {
    return top + height * double(column) / double(std::max<std::int64_t>(1, plan_.n));
  }
  bool has(const char* kind) const {
    return any_of(plan_.tasks, [&](const Task& task) { return std::string(class_of(task)) == kind; });
  }
  bool is_bulk(const Task& task) const { return !plan_.lanes.single() && task.lane.rank <= plan_.lanes.bulk.rank; }

  void say(double at_x, double at_y, const char* anchor, const std::string& words, const char* more = "") {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", at_x, at_y, anchor, more,
                         words);
  }
  void box(const std::string& style, double x0, double y0, double width, double tall, const std::string& title = "") {
    text_ += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"", style, x0,
                         y0, width, tall);
    text_ += title.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", title);
  }

  void open() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 {:.0f}\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n"
        "<style>\n"
        ".ground {{ fill: #ffffff }} text {{ fill: #222222 }} .grid {{ stroke: #8886; stroke-width: 0.5 }} .frame {{ "
        "fill: none; stroke: #888 }}\n"
        ".panel {{ fill: #d03a2b }} .interchange {{ fill: #8a8f94 }} .solve {{ fill: #e59a16 }} .update {{ fill: "
        "#2471a3 }}\n"
        ".arrive {{ fill: #2a9d5c }} .bulk {{ fill-opacity: 0.45 }}\n"
        "@media (prefers-color-scheme: dark) {{ .ground {{ fill: #14181d }} text {{ fill: #dddddd }} .update {{ fill: "
        "#4aa3df }} .panel {{ fill: #ff6b5a }} }}\n"
        "</style>\n"
        "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",  // the page around may be light or dark
        bottom_);
    say(left, 24, "start",
        fmt::format("{}, {}, n = {}, panels of {} columns{}", record_of(plan_.method).name, lasolve::name_of(schedule_),
                    plan_.n, panel_, card_.empty() ? "" : ", as lowered for " + card_),
        " font-size=\"17\"");
  }

  void legend() {
    const std::pair<const char*, std::string> kinds[] = {{"arrive", "arrives"},
                                                         {"panel", "panel"},
                                                         {"interchange", "row interchange"},
                                                         {"solve", "triangular solve"},
                                                         {"update", "update"}};
    double at = left;
    const auto entry = [&](const std::string& style, const std::string& words) {
      box(style, at, 40, 14, 14);
      say(at + 20, 52, "start", words);
      at += 44 + 7.2 * double(words.size());
    };
    for (const auto& [kind, words] : kinds)
      if (has(kind)) entry(kind, words);
    if (lanes_.size() > 1) entry("update bulk", "pale: in the bulk");
  }

  void matrix() {
    for (std::int64_t j = 0; j < plan_.n; j += panel_)
      text_ += fmt::format("<path class=\"grid\" d=\"M{} {:.2f}H{}\"/>\n", left, y(j), right);
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
      const Task& task = plan_.tasks[i];
      if (!is_drawn(task)) continue;
      box(std::string(class_of(task)) + (is_bulk(task) ? " bulk" : ""), x(times_[i].begin), y(task.C.j), width(i),
          y(task.C.j + task.C.n) - y(task.C.j), title(i));
    }
    box("frame", left, top, right - left, height);
    say(left - 8, top + 10, "end", "0");
    say(left - 8, top + height, "end", fmt::format("{}", plan_.n));
    const double middle = top + height / 2;
    say(left - 14, middle, "middle", "columns of the matrix",
        fmt::format(" transform=\"rotate(-90 {} {})\"", left - 14, middle).c_str());
    say((left + right) / 2, top + height + 20, "middle", "time");
  }

  void lanes() {
    if (lanes_.size() < 2) return;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      const double row = lanes_top_ + line_height * double(l);
      say(left - 8, row + 13, "end", lane_name(plan_, lanes_[l]));
      text_ += fmt::format("<path class=\"grid\" d=\"M{} {:.2f}H{}\"/>\n", left, row + line_height - 2, right);
      for (std::size_t i = 0; i < plan_.tasks.size(); ++i)
        if (plan_.tasks[i].lane == lanes_[l] && is_drawn(plan_.tasks[i]))
          box(std::string(class_of(plan_.tasks[i])) + (is_bulk(plan_.tasks[i]) ? " bulk" : ""), x(times_[i].begin), row,
              width(i), line_height - 4, title(i));
    }
  }

  void caption() {
    const bool ahead = lanes_.size() > 1;
    say(left, bottom_ - 44, "start",
        ahead ? "Above: the columns that a task writes. Below: the lane that it is in. Look-ahead is where a panel is "
                "factored"
              : "The columns that a task writes. There is one lane, so that one task runs after the other.");
    if (ahead)
      say(left, bottom_ - 28, "start", "while the bulk of the update before it goes on: red beside pale blue.");
    say(left, bottom_ - 10, "start",
        "A model, not a measurement: an operation takes 16 times as long in a panel as in an update, and lanes do not "
        "slow each other.",
        " font-size=\"12\" opacity=\"0.8\"");
  }

  double width(std::size_t i) const { return std::max(0.3, x(times_[i].end) - x(times_[i].begin)); }
  std::string title(std::size_t i) const {
    const Task& task = plan_.tasks[i];
    return fmt::format("{}: {} of columns {} to {}", i, task.type->name, task.C.j, task.C.j + task.C.n - 1);
  }

  const Plan& plan_;
  const Schedule schedule_;
  const std::int64_t panel_;
  const std::string card_;
  const std::vector<Span> times_;
  std::vector<Lane> lanes_;  // those of a card together
  double last_ = 1e-300, lanes_top_, bottom_;
  std::string text_;
};

}  // namespace

std::vector<Span> modelled_times(const Plan& plan, const Waits& waits, const CardList& cards) {
  double mean_share = 0;
  for (std::size_t card = 0; card < cards.count; ++card) mean_share += double(cards.share(card)) / cards.count;
  std::vector<Span> times;
  std::map<Lane, double> free;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    double& lane = free[plan.tasks[i].lane];
    double begin = lane;
    for (const std::int32_t k : waits.of(i)) begin = std::max(begin, times[std::size_t(k)].end);
    lane = begin + duration_of(plan.tasks[i]) * mean_share / cards.share(std::size_t(plan.tasks[i].lane.card));
    times.push_back({begin, lane});
  }
  return times;
}

std::string as_svg(const DrawnPlan& drawn) { return Picture(drawn).text(); }

}  // namespace lasolve::cli
