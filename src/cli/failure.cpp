#include "cli/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "core/choose.hpp"
#include "core/sizes.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"
#include "lasolve/names.hpp"
#include "worker/signals.hpp"

namespace lasolve::cli {

namespace {

/// How much there is, if there is enough to find that out.
Failure want_of_memory() {
  try {
    return {machine, fmt::format("{}: {} free", worker::no_memory, in_bytes(double(Memory<Cpu>::available())))};
  } catch (const std::bad_alloc&) {
    return {machine, "", worker::no_memory};
  }
}

}  // namespace

Failure current_failure(const char* command) {
  try {
    throw;
  } catch (const UsageError& e) {
    return {usage, fmt::format("lasolve: {}\n'lasolve {} --help' lists the options", e.what(),
                               find_guide(command) ? command : "solve")};
  } catch (const UnknownName& e) {
    const std::string others = e.unsaid.empty() ? "" : fmt::format("\n  backends: {}", fmt::join(e.unsaid, ", "));
    return {usage, fmt::format("lasolve: {}{}", e.what(), others)};
  } catch (const io::GeneratorError& e) {
    return {usage, fmt::format("lasolve: {}", e.what())};
  } catch (const io::InputError& e) {
    return {bad_input, e.what()};
  } catch (const io::OutputError& e) {
    return {machine, fmt::format("lasolve: {}", e.what())};
  } catch (const NotHere& e) {
    return {machine, fmt::format("lasolve: {}\n  would run here: --device {} --gemm {}", e.what(),
                                 e.instead.index > 0 ? name_of(e.instead) : name_of(e.instead.kind), e.gemm_instead)};
  } catch (const MachineError& e) {
    return {machine, fmt::format("lasolve: {}", e.what())};
  } catch (const std::bad_alloc&) {
    return want_of_memory();
  } catch (const std::invalid_argument& e) {  // require() names the library itself
    const std::string what = e.what();
    return {usage, what.starts_with("lasolve: ") ? what : "lasolve: " + what};
  } catch (const std::exception& e) {
    return {internal, fmt::format("lasolve: internal error: {}", e.what())};
  }
}

}  // namespace lasolve::cli
