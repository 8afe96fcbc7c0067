// The manual page and the completion, from the tables of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "baseline_solvers/baseline_solvers.hpp"
#include "cli/guide.hpp"
#include "cli/options.hpp"
#include "cli/request.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "core/tuning.hpp"
#include "io/generators.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"

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

/// The generators, to be gone on with.
std::vector<std::string> generator_words() {
  std::vector<std::string> all;
  for (const std::string& name : io::Generator::names()) all.push_back(name + ":n=");
  return all;
}

/// What may stand in a place of a command line.
struct Offer {
  std::vector<std::string> words = {};
  bool files = false, is_list = false;  // words, with commas between
  std::string here = {};                // the option whose words the tool tells: see usable(). Else empty
};

/// Of an option's value. Words that stand for others, as in cuda:INDEX, are left out; of --gemm there are the backends of this build.
Offer offer_of(const Option& o) {
  const std::string name = o.name, value = o.value ? o.value : "";
  if (name == "matrix") return {generator_words(), value != "GENERATOR", false};
  if (name == "tune") {
    Offer offer;
    for (const TuningField& f : tuning_fields())
      if (f.device != Device::cuda || !gemm_backends<Cuda>().empty()) offer.words.push_back(f.name + "=");
    return offer;
  }
  if (name == "gemm") {
    std::set<std::string> names = {"all", "auto"};
    for (const auto* b : gemm_backends<Cpu>()) names.insert(b->name);
    for (const auto* b : gemm_backends<Cuda>()) names.insert(b->name);
    return {{names.begin(), names.end()}, false, true, name};
  }
  Offer offer{o.choices, value.starts_with("FILE"), value.ends_with('S')};
  if (name == "device" || name == "baseline-solvers") offer.here = name;
  std::erase_if(offer.words, [](const std::string& word) { return word.find_first_of("INDEXMNK") != word.npos; });
  return offer;
}

/// Of a word that is no option.
Offer offer_of(const CommandGuide& g) {
  if (g.name == "bench") return {{"gemm"}, false, false};
  if (g.name == "new-kernel" || g.name == "try-kernel") return {{}, true, false};
  if (g.name == "help") {
    std::vector<std::string> words = names_of_commands();
    for (const std::string& topic : topics_of_help()) words.push_back(topic);
    return {words, false, false};
  }
  for (const Option& o : g.options)
    if (o.name == std::string("matrix")) return offer_of(o);
  return {};
}

std::string in_bash(const Offer& offer) {
  return fmt::format("words='{}'{}{}{}", fmt::join(offer.words, " "), offer.files ? " files=yes" : "",
                     offer.is_list ? " list=yes" : "", offer.here.empty() ? "" : "; _lasolve_here " + offer.here);
}

std::string bash_completion() {
  std::string cases;
  for (const CommandGuide& g : guides()) {
    std::vector<std::string> names;
    for (const Option& o : g.options) {
      names.push_back(fmt::format("--{}", o.name));
      if (!o.value) continue;
      const std::string letter = o.letter ? fmt::format(" | '{} -{}'", g.name, o.letter) : "";
      cases += fmt::format("    '{} --{}'{}) {} ;;\n", g.name, o.name, letter, in_bash(offer_of(o)));
    }
    cases += fmt::format("    '{} '*) if [[ $current == -* ]]; then words='{}'; else {}; fi ;;\n", g.name,
                         fmt::join(names, " "), in_bash(offer_of(g)));
  }
  return fmt::format(
      "# Completion of lasolve for bash, made by: lasolve help --completion bash\n"
      "_lasolve_here() {{\n"
      "  local said\n"
      "  if said=$(\"${{COMP_WORDS[0]/#\\~/$HOME}}\" help --usable \"$1\" 2>/dev/null); then words=$said; fi\n"
      "}}\n"
      "_lasolve() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=solve words= files= "
      "list=\n"
      "  COMPREPLY=()\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "    {0}) ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}} ;;\n"
      "  esac\n"
      "  # bash takes --option=value for three words, and uniform:n=4 for five.\n"
      "  if [[ $current == '=' || $previous == '=' ]]; then\n"
      "    [[ $current == '=' ]] && current= || previous=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "    [[ $previous == -* ]] || return\n"
      "  elif [[ $current == --*=* ]]; then\n"
      "    previous=${{current%%=*}} current=${{current#*=}}\n"
      "  fi\n"
      "  [[ $current != ':' && $previous != ':' ]] || return\n"
      "  case \"$command $previous\" in\n"
      "{1}"
      "  esac\n"
      "  ((COMP_CWORD == 1)) && [[ $current != -* ]] && words+=' {2}'\n"
      "  local word before=\n"
      "  if [[ $list && $current == *,* ]]; then before=${{current%,*}}, current=${{current##*,}}; fi\n"
      "  for word in $words; do\n"
      "    [[ $word != \"$current\"* ]] || COMPREPLY+=(\"$before$word\")\n"
      "  done\n"
      "  if [[ $files || $current == */* ]]; then\n"
      "    while IFS= read -r word; do\n"
      "      [[ -d $word ]] && word+=/\n"
      "      COMPREPLY+=(\"$before$(printf %q \"$word\")\")\n"
      "    done < <(compgen -f -- \"$current\")\n"
      "  fi\n"
      "  if [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *[=/] ]]; then compopt -o nospace 2>/dev/null; fi\n"
      "}}\n"
      "complete -F _lasolve lasolve\n",
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

/// What _arguments does for a device. Words that end in = are gone on with.
std::string in_zsh(const Offer& offer, const std::string& what) {
  if (!offer.here.empty()) return fmt::format(" _lasolve_here {} {}", offer.here, fmt::join(offer.words, " "));
  if (offer.words.empty()) return offer.files ? "_files" : " ";
  std::string words;
  for (std::string word : offer.words) {
    if (word.ends_with('=')) word.pop_back();
    for (std::size_t colon = 0; (colon = word.find(':', colon)) != word.npos; colon += 2) word.insert(colon, 1, '\\');
    words += " " + word;
  }
  if (offer.is_list) return fmt::format("_values -s , {}{}", what, words);
  if (!offer.words.front().ends_with('=')) return fmt::format("({})", words.substr(1));
  return offer.files ? "_lasolve_matrix" : "compadd -S= --" + words;
}

std::string zsh_completion() {
  std::string cases;
  std::vector<std::string> matrices = generator_words();
  for (std::string& name : matrices) name.pop_back();  // =, which zsh puts behind
  for (const CommandGuide& g : guides()) {
    cases += fmt::format("    {})\n      _arguments", g.name);
    for (const Option& o : g.options) {
      const char *const more = o.value ? "=" : "", *const plus = o.value ? "+" : "";
      const std::string names = o.letter
                                    ? fmt::format("'(-{0} --{1})'{{-{0}{2},--{1}{3}}}", o.letter, o.name, plus, more)
                                    : fmt::format("{}--{}{}", o.repeats ? "'*'" : "", o.name, more);
      cases += fmt::format(" \\\n        {}'[{}]{}'", names, zsh_text(meaning_of(o)),
                           o.value ? fmt::format(":{}:{}", zsh_text(o.value), in_zsh(offer_of(o), o.value)) : "");
    }
    cases += fmt::format(" \\\n        '*:word:{}'\n      ;;\n", in_zsh(offer_of(g), "word"));
  }
  return fmt::format(
      "#compdef lasolve\n"
      "# Completion of lasolve for zsh, made by: lasolve help --completion zsh\n"
      "_lasolve_here() {{\n"
      "  local option=$1 said\n"
      "  shift\n"
      "  said=$(${{words[1]}} help --usable $option 2>/dev/null) || said=\"$*\"\n"
      "  _values -s , $option ${{=said}}\n"
      "}}\n"
      "_lasolve_matrix() {{\n"
      "  _alternative 'words:generator:compadd -S= -- {3}' 'files:file:_files'\n"
      "}}\n"
      "_lasolve() {{\n"
      "  local command=solve\n"
      "  case ${{words[2]}} in\n"
      "    {0}) ((CURRENT > 2)) && command=${{words[2]}} ;;\n"
      "  esac\n"
      "  ((CURRENT == 2)) && [[ ${{words[2]}} != -* ]] && compadd -- {1}\n"
      "  case $command in\n"
      "{2}"
      "  esac\n"
      "}}\n"
      "_lasolve \"$@\"\n",
      fmt::join(names_of_commands(), " | "), fmt::join(names_of_commands(), " "), cases, fmt::join(matrices, " "));
}

std::string manual_page() {
  std::string text = fmt::format(".TH LASOLVE 1 \"\" \"lasolve {}\" \"User Commands\"\n", version());
  text += ".SH NAME\nlasolve \\- solve dense linear systems by LU or Cholesky, on the CPU and on CUDA\n.SH SYNOPSIS\n";
  for (const CommandGuide& g : guides())
    text += fmt::format("{}.B {}\n", &g == &guides().front() ? "" : ".br\n", roff(g.usage));
  text += ".SH COMMANDS\n";
  for (const CommandGuide& g : guides())
    text += fmt::format(".SS {}\n{}\n{}", roff(g.name), roff(g.summary), roff_options(g.options));
  for (const std::string& topic : topics_of_help())
    text += fmt::format(".SH {}\n{}", topic == "exit-codes" ? "EXIT STATUS" : topic, roff_block(help_about(topic)));
  text += ".SH EXAMPLES\n";
  std::string examples;
  for (const CommandGuide& g : guides())
    for (const auto& example : g.examples) examples += example + "\n";
  return text + roff_block(examples);
}

/// The words that --gemm, --device or --baseline-solvers can take here, in one line.
std::string usable(const std::string& option) {
  const Device there = automatic_device();
  std::set<std::string> words;
  if (option == "gemm") {
    words = {"all", "auto"};
    for (const Device& device : {Device{Device::cpu, 0}, there})
      for (const std::string& name : runnable_backends(device)) words.insert(name);
  } else if (option == "device") {
    words = {name_of(Device::automatic), name_of(Device::cpu), name_of(there.kind)};
  } else {
    for (const baseline_solvers::Library& library : baseline_solvers::all())
      if (baseline_solvers::why_unavailable(library).empty()) words.insert(library.name);
  }
  return fmt::format("{}\n", fmt::join(words, " "));
}

/// The options of `lasolve help`: each sets what is printed.
const Table<std::string>& help_table() {
  using O = OptionOf<std::string>;
  static const Table<std::string> all = {
      O("man", 0, "print the manual page, for man(1)").to([](auto& page, auto&) { page = manual_page(); }),
      O("completion", 0, "SHELL", nullptr, {"bash", "zsh"}, "print the completion of lasolve for a shell")
          .to([](auto& page, auto& shell) { page = shell == "bash" ? bash_completion() : zsh_completion(); }),
      O("usable", 0, "OPTION", nullptr, {"gemm", "device", "baseline-solvers"},
        "print the words that an option can take here")
          .to([](auto& page, auto& option) { page = usable(option); }),
  };
  return all;
}

}  // namespace

std::vector<Option> help_options() { return listed_in(help_table()); }

std::string page_of(const std::string& option, const std::string& word) {
  const auto* const its = find_in(help_table(), [&](const Option& o) { return option == fmt::format("--{}", o.name); });
  if (!its) return help_about(option);                                  // which says what there is
  const std::string now = word == "peers" ? "baseline-solvers" : word;  // as completions of the release before ask
  if (its->value && !contains(its->choices, now)) refuse_word(its->name, its->choices, now);
  std::string page;
  its->set(page, now);
  return page;
}

}  // namespace lasolve::cli
