#include "worker/protocol.hpp"

#include <fmt/format.h>

#include "plugin/kernels.hpp"

namespace lasolve::worker {

std::vector<std::string> command_of(const std::string& kind) {
  std::vector<std::string> words = {"/proc/self/exe", "worker", kind};
  const std::vector<std::string> loaded = plugin::loaded_in_words();
  words.insert(words.end(), loaded.begin(), loaded.end());
  return words;
}

Ending Supervisor::listen(Child& child, const OnLine& on_line) {
  constexpr double slowest_multiplication = 20e-9;
  Ending e;
  for (std::string line;;) {
    switch (child.listen(line, seconds_)) {
      case Child::nothing:
        e.kind = Ending::no_answer, e.waited = seconds_;
        e.how = fmt::format("gave no answer for {:.3g} s", seconds_);
        return e;
      case Child::end: {
        auto [signal, how] = child.end_of_it();
        e.kind = Ending::ended, e.signal = signal, e.how = std::move(how);
        return e;
      }
      case Child::line:
        break;
    }
    const Json m = Json::parse(line, nullptr, false);
    if (!m.is_object()) continue;  // a kernel has written here
    if (const auto run = m.find("run"); run != m.end()) {
      e.in_run = run->is_string();
      if (e.in_run) e.running = *run;
      seconds_ = e.in_run ? patience_ + slowest_multiplication * m.value("multiplications", 0.0) : forever;
    } else if (m.contains("spoilt")) {
      e.kind = Ending::spoilt, e.running = m["spoilt"], e.how = m["why"];
      return e;
    } else if (m.contains("done")) {
      e.done = m["done"];
      seconds_ = forever;
    }
    if (on_line && !on_line(m)) return e;
  }
}

void tell(const Json& line) { tell_parent(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }
void tell_run(const std::string& name, double multiplications) {
  tell({{"run", name}, {"multiplications", multiplications}});
}
void tell_end_of_run() { tell_parent("{\"run\":null}\n"); }
void tell_spoilt(const std::string& name, const std::string& why) { tell({{"spoilt", name}, {"why", why}}); }

namespace {
/// A line of a few characters, without memory.
template <class... Values>
void tell_short(fmt::format_string<Values...> format, Values&&... values) {
  char line[128];
  const auto end = fmt::format_to_n(line, sizeof line, format, std::forward<Values>(values)...);
  tell_parent({line, end.size});
}
}  // namespace

void tell_progress(double share) { tell_short("{{\"progress\":{:.6f}}}\n", share); }
void tell_done(int code) { tell_short("{{\"done\":{}}}\n", code); }

}  // namespace lasolve::worker
