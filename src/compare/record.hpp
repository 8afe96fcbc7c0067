// A comparison as JSON, and back: what --json writes, and --baseline and --resume read.
#pragma once

#include <string>

#include "bench/json.hpp"
#include "compare/row.hpp"

namespace lasolve::compare {

/// With the environment beside it: of the tool and the machine. `beside` is what drawn_beside() made of another comparison.
Json as_json(const Comparison&, const Json& environment, const Json& beside = nullptr);
/// The rows of a comparison on another device, without tasks and verdicts, and its environment: to be drawn, and not judged.
Json drawn_beside(const Comparison&, const Json& environment);

/// The tasks of solves on a line of time, for chrome://tracing and https://ui.perfetto.dev: the median run of each row is a process. Its
/// lanes are threads, or its phases where it has one lane. Tasks carry their block, flops, rate, and m, n and k if they are updates.
/// Format: Google, "Trace Event Format".
std::string as_trace(const Comparison&);

/// Of the text of a file that as_json() made; `name` is how it is called in errors. Throws io::InputError where it is none.
Comparison comparison_of(const std::string& text, const std::string& name);

/// The environment in such a text, or null.
Json environment_in(const std::string& text);

}  // namespace lasolve::compare
