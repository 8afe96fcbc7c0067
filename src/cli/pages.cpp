// The manual page and the completion, from the tables of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "cli/guide.hpp"
#include "cli/request.hpp"
#include "core/choose.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::cli {

namespace {

/// Text for roff: nothing in it is a request, an escape or a hyphen that may be broken at.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n')) safe += "\\&";
    safe += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return safe;
}

std::string roff_block(const std::string& text) { return ".nf\n" + roff(text) + ".fi\n"; }

std::string roff_options(const std::vector<Option>& options) {
  std::string text;
  for (const Option& o : options) {
    const std::string value = o.value ? fmt::format(" \\fI{}\\fR", roff(o.value)) : "";
    const std::string letter = o.letter ? fmt::format("\\fB\\-{}\\fR, ", o.letter) : "";
    text += fmt::format(".TP\n{}\\fB\\-\\-{}\\fR{}\n{}\n", letter, roff(o.name), value, roff(meaning_of(o)));
  }
  return text;
}

/// The words that an option takes, without those that stand for others, as in cuda:INDEX; of --gemm, the backends that
/// this build knows.
std::vector<std::string> words_of(const Option& o) {
  if (std::string(o.name) != "gemm") {
    std::vector<std::string> words = o.choices;
    std::erase_if(words, [](const std::string& word) { return word.find_first_of("INDEXMNK") != word.npos; });
    return words;
  }
  std::set<std::string> names = {"all", "auto"};
  for (const auto* b : gemm_backends<Cpu>()) names.insert(b->name);
  for (const auto* b : gemm_backends<Cuda>()) names.insert(b->name);
  for (const auto& b : missing_gemm_backends()) names.insert(b.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const CommandGuide& g : guides()) names.push_back(g.name);
  return names;
}

std::string bash_completion() {
  std::string cases;
  for (const CommandGuide& g : guides()) {
    std::vector<std::string> names;
    for (const Option& o : g.options) {
      names.push_back(fmt::format("--{}", o.name));
      const auto words = words_of(o);
      if (words.empty()) continue;
      const std::string letter = o.letter ? fmt::format(" | '{} -{}'", g.name, o.letter) : "";
      cases += fmt::format("    '{} --{}'{}) words='{}' ;;\n", g.name, o.name, letter, fmt::join(words, " "));
    }
    cases += fmt::format("    '{} '*) [[ $current == -* ]] && words='{}' ;;\n", g.name, fmt::join(names, " "));
  }
  return fmt::format(
      "# Completion of lasolve for bash, made by: lasolve help --completion bash\n"
      "_lasolve() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=solve words=\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "    {}) ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}} ;;\n"
      "  esac\n"
      "  case \"$command $previous\" in\n"
      "{}"
      "  esac\n"
      "  ((COMP_CWORD == 1)) && [[ $current != -* ]] && words='{}'\n"
      "  COMPREPLY=()\n"
      "  local word\n"
      "  for word in $words; do\n"
      "    [[ $word != \"$current\"* ]] || COMPREPLY+=(\"$word\")\n"
      "  done\n"
      "}}\n"
      "complete -o default -F _lasolve lasolve\n",
      fmt::join(names_of_commands(), " | "), cases, fmt::join(names_of_commands(), " "));
}

/// Text within a '...[...]' of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') safe += '\\';
    safe += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return safe;
}

std::string zsh_completion() {
  std::string cases;
  for (const CommandGuide& g : guides()) {
    cases += fmt::format("    {})\n      _arguments", g.name);
    for (const Option& o : g.options) {
      const std::string names =
          o.letter ? fmt::format("'(-{0} --{1})'{{-{0},--{1}}}", o.letter, o.name) : fmt::format("--{}", o.name);
      const auto words = words_of(o);
      const bool is_file = o.value && std::string(o.value) == "FILE";
      const std::string action = words.empty() ? is_file ? "_files" : " " : fmt::format("({})", fmt::join(words, " "));
      cases += fmt::format(" \\\n        {}'[{}]{}'", names, zsh_text(meaning_of(o)),
                           o.value ? fmt::format(":{}:{}", zsh_text(o.value), action) : "");
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(
      "#compdef lasolve\n"
      "# Completion of lasolve for zsh, made by: lasolve help --completion zsh\n"
      "_lasolve() {{\n"
      "  local command=solve\n"
      "  case ${{words[2]}} in\n"
      "    {}) ((CURRENT > 2)) && command=${{words[2]}} ;;\n"
      "  esac\n"
      "  ((CURRENT == 2)) && [[ ${{words[2]}} != -* ]] && compadd -- {}\n"
      "  case $command in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "_lasolve \"$@\"\n",
      fmt::join(names_of_commands(), " | "), fmt::join(names_of_commands(), " "), cases);
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(".TH LASOLVE 1 \"\" \"lasolve {}\" \"User Commands\"\n", version());
  text += ".SH NAME\nlasolve \\- solve dense linear systems by LU or Cholesky, on the CPU and on CUDA\n.SH SYNOPSIS\n";
  for (const CommandGuide& g : guides())
    text += fmt::format("{}.B {}\n", &g == &guides().front() ? "" : ".br\n", roff(g.usage));
  text += ".SH COMMANDS\n";
  for (const CommandGuide& g : guides())
    text += fmt::format(".SS {}\n{}\n{}", roff(g.name), roff(g.summary), roff_options(g.options));
  for (const char* topic : {"phases", "formats", "generators", "sizes", "exit-codes"})
    text += fmt::format(".SH {}\n{}", topic == std::string("exit-codes") ? "EXIT STATUS" : topic,
                        roff_block(help_about(topic)));
  text += ".SH EXAMPLES\n";
  std::string examples;
  for (const CommandGuide& g : guides())
    for (const auto& example : g.examples) examples += example + "\n";
  return text + roff_block(examples);
}

std::string completion(const std::string& shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  throw UsageError(
      fmt::format("--completion takes bash, zsh, not '{}'{}", shell, did_you_mean(shell, {"bash", "zsh"})));
}

}  // namespace lasolve::cli
