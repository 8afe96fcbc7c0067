// What all JSON of the tool has in common.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace lasolve {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity: they become null, as does what is not known.
inline Json or_null(std::optional<double> x) { return x && std::isfinite(*x) ? Json(*x) : Json(nullptr); }
inline Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// What is JSON, and not what it should be.
struct Unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace lasolve
