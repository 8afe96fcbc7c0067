#include "io/matrix_market_values.hpp"

#include <cmath>

namespace lasolve::io {

void refuse_extra(Scanner& scanner, const MatrixMarketHeader& header) {
  scanner.skip_to_data();
  if (scanner.at_end()) return;
  std::int64_t stored = header.stored;
  if (header.format == Format::array && header.symmetry != Symmetry::general)
    for (Scanner rest = scanner; !rest.at_end(); rest.skip_to_data(), ++stored) rest.place += rest.token().size();
  const bool all = stored != header.stored && stored == header.rows * header.cols;
  scanner.refuse(fmt::format(
      "expected the end of the file after {}, found {}{}", counted(header.stored, header.format), scanner.found(),
      all ? fmt::format("; a file with all {} is general, as its banner then says", stored) : ""));
}

void refuse_both_triangles(const Scanner& entry, const MatrixMarketHeader& header, std::int64_t i, std::int64_t j) {
  entry.refuse(
      fmt::format("expected one of ({0}, {1}) and ({1}, {0}), as the file is {2}, found both; a file with "
                  "both triangles is general, as its banner then says",
                  i + 1, j + 1, header.symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric"));
}

void refuse_overflow(const Scanner& entry, double x, const ReadOptions& options) {
  if (std::isinf(x) && !options.allow_nonfinite)
    entry.refuse("expected entries whose sum is in the range of a double, found an overflow");
}

std::string note_of_repeated(const std::string& first, std::int64_t repeated) {
  return fmt::format("{}: note: {} repeat{} an earlier one and {} added to it; the first is here", first,
                     counted(repeated, Format::coordinate), repeated == 1 ? "s" : "", repeated == 1 ? "was" : "were");
}

}  // namespace lasolve::io
