#include "io/matrix_file.hpp"

#include <fmt/format.h>

#include "core/sizes.hpp"
#include "io/input_file.hpp"
#include "io/number.hpp"

namespace lasolve::io {

void note_underflows(const InputFile& file, const Underflows& underflows, MatrixFile& result) {
  const auto& [numbers, zeros, first] = underflows;
  if (numbers == 0) return;
  result.notes.push_back(fmt::format("{}: note: {} below 2.2e-308 lost digits{}", file.name_of(first),
                                     numbers == 1 ? "an entry" : fmt::format("{} entries, the first here,", numbers),
                                     zeros == 0 ? "" : fmt::format("; {} became 0", zeros)));
}

std::string why_not_addressable(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t most = std::int64_t(1) << 59;  // elements, so that their padded columns end below 2^63 bytes
  if (cols == 0 || rows <= most / cols) return "";
  return fmt::format("expected a matrix of at most 2^62 bytes, found {} x {} elements of 8", rows, cols);
}

std::string why_no_memory(std::int64_t rows, std::int64_t cols, int bytes_an_element, const std::string& advice) {
  const double bytes = double(rows) * double(cols) * bytes_an_element;
  const auto available = Memory<Cpu>::available();
  if (bytes <= double(available)) return "";
  return fmt::format("a dense {} x {} matrix{} takes {} of memory, and {} are free{}{}", rows, cols,
                     bytes_an_element > 8 ? " with its factors" : "", in_bytes(bytes), in_bytes(double(available)),
                     advice.empty() ? "" : "; ", advice);
}

}  // namespace lasolve::io
