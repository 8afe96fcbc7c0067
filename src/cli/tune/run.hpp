// Settings tried on systems of several sizes, one after the other.
#pragma once

#include <functional>

#include "cli/request.hpp"
#include "tuned/kept.hpp"
#include "tuned/search.hpp"

namespace lasolve::cli {

/// What `lasolve tune` is asked for.
struct TuneRequest {
  bool quiet = false, forget = false;
  std::string json;
  std::vector<std::int64_t> sizes;
  std::vector<Method> methods;
  std::vector<Precision> precisions;
  std::vector<std::string> backends;  // names; "auto", the default, is the first
  Options options;                    // of every solve: the device and the threads
  double within = 0;                  // seconds
};

/// What was found for one method, precision and size.
struct TuneResult {
  tuned::Key key;
  tuned::Space space;
  tuned::Found found;
  bool for_want_of_machine = false;  ///< the default failed for memory or a device
  double other_processors = 0;       ///< that other programs kept busy meanwhile

  /// Throws std::logic_error where it is not known what is best: see tuned::Found.
  tuned::Entry entry() const;
};

struct TuneResults {
  std::vector<TuneResult> all;
  std::vector<std::string> remarks;
  bool a_backend_is_wrong = false;
};

/// Tries the backends, each in a process of its own, and then settings: the sizes in ascending order. `on_result` gets each result as it
/// is made. Throws UsageError where the default backend does not offer a precision.
TuneResults tune(const TuneRequest&, const std::function<void(const TuneResult&)>& on_result);

}  // namespace lasolve::cli
