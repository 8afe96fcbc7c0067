#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "io/matrix_market.hpp"

namespace lasolve::io {

void write_matrix_market(OutputFile& file, MatrixView<const double> A, std::span<const std::string> comments,
                         const Progress& progress) {
  file.append("%%MatrixMarket matrix array real general\n");
  for (const std::string& comment : comments) {
    for (std::string_view rest = comment;;) {
      const std::size_t line_end = rest.find('\n');
      file.append(fmt::format("% {}\n", rest.substr(0, line_end)));
      if (line_end == rest.npos) break;
      rest.remove_prefix(line_end + 1);
    }
  }
  file.append(fmt::format("{} {}\n", A.rows(), A.cols()));
  std::array<char, 32> digits;  // -1.2345678901234567e-308 has 24 characters
  Teller tell(progress, A.rows() * A.cols());
  for (std::int64_t j = 0; j < A.cols() && !A.empty(); ++j) {
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      tell(j * A.rows() + i);
      char* const end = std::to_chars(digits.data(), digits.data() + digits.size() - 1, A(i, j)).ptr;
      *end = '\n';
      file.append({digits.data(), std::size_t(end + 1 - digits.data())});
    }
  }
}

}  // namespace lasolve::io
