// The system that is to be solved: read from files or generated, on the host or on the device.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/request.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"

namespace lasolve::cli {

/// Throws io::InputError, which says what to do with such a matrix, unless it is square.
void require_square(const Request&, const std::string& place, std::int64_t rows, std::int64_t cols,
                    const std::string& question = {});
/// Right-hand sides of n rows, as they are meant in a file: a row that is as long as the matrix has rows can only mean a column. What a
/// person should know of them is added to the notes. Throws io::InputError.
Matrix<double> right_hand_sides(const Request&, io::MatrixFile file, std::int64_t n, std::vector<std::string>& notes);
/// Throws UsageError.
void require_no_generator(const std::string& rhs);
/// Throws UsageError, for what is no generator.
[[noreturn]] void refuse_in_place();
/// Whether a word means a generator, and no file of that name is there.
bool is_generated(const std::string& matrix);
class Problem {
 public:
  /// Reads the files, or makes the generator. Throws io::InputError and io::GeneratorError. With `stops_where_singular`, a matrix of
  /// a file that has an empty row or column may be left out: then known_outcome() is there, and no solve is made.
  explicit Problem(const Request&, bool stops_where_singular = false);

  /// What a solve would report, where the structure of A alone tells that A is singular.
  std::optional<Report> known_outcome(const Options&) const;

  /// Solves once with a backend; X is the solution. B and X are in pageable memory of the host. A that is generated begins where the
  /// backend runs; that of a file, and with `from_host` any, in pageable memory of the host. `making`, unless empty, is called with the
  /// share of A that is generated.
  Report solve(const Options&, Matrix<double>& X, bool from_host = false, const io::Progress& making = {});

  /// The options with which there would be memory enough, and what they take; else about the largest n of a generated matrix, if any.
  std::string what_would_fit(const Options&) const;

  /// Signs of rows and columns, drawn from a number, that A, B and X have in the solves that come: see bench/signs.hpp. 0: those that
  /// were read or made. They are not given to a matrix in place.
  void draw_signs(std::uint64_t number) { signs_ = number; }

  /// A and B on the host; A is made there at first use. `threads` of the host.
  std::pair<MatrixView<const double>, MatrixView<const double>> on_host(int threads);
  /// Called with all columns of A as they were read or made, from the first on and some at a time. A generator makes them again where they
  /// are not on the host.
  using SeeColumns = std::function<void(const Queue<Cpu>&, std::int64_t first, MatrixView<const double>)>;
  void see_columns(int threads, const SeeColumns&);
  /// The same of B, and of a first column of X that solve() has just made.
  MatrixView<const double> rhs();
  std::vector<double> without_signs(const Matrix<double>& X) const;

  std::int64_t n() const { return n_; }
  bool is_generated() const { return generator_.has_value(); }
  /// Whether A is in memory, somewhere.
  bool is_made() const { return host_.matrix || device_.matrix; }
  /// That which is asked for. Else LU if a look at the first rows and columns shows that A is not symmetric with a positive diagonal,
  /// or Cholesky, which is no certainty.
  Method method_for(const Options&) const;
  std::int64_t nrhs() const { return has_rhs_ ? B_.cols() : 1; }
  /// Whether the right-hand side came as a vector, of one dimension.
  bool is_vector() const { return is_vector_; }
  const std::string& name() const { return name_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Names other solvers, where A is banded or very sparse; else empty.
  const std::string& advice() const { return advice_; }

 private:
  /// A matrix, and the number of the signs that it has.
  template <class Space>
  struct Signed {
    std::optional<Matrix<double, Space>> matrix;
    std::uint64_t signs = 0;
  };

  /// A on a device with its signs, made there at first use if it comes from a generator, and b = A·1 if no other was given. `queue`:
  /// the threads or the device.
  template <class Space>
  MatrixView<const double, Space> at(int queue, Signed<Space>& A, Precision factors);
  void take_matrix(const Request&, io::MatrixFile file, bool stops_where_singular);
  void sign_rhs();
  /// A generated on a device; refused before if `bytes_an_element` for all of it are not free.
  template <class Space>
  Matrix<double, Space> generated(Queue<Space>& q, int bytes_an_element);
  /// Factors A, which each of several cards makes for itself, or a device block column after block column.
  Factorization<double> generated_in_parts(int device, const Options&);
  /// Solves with A overwritten by its factors, and makes it again to check the solution.
  template <class Space>
  Report solve_in_place(int queue, Options options, Matrix<double>& X);

  std::string name_;
  Op op_;
  Uplo triangle_;  // of the matrix, that counts
  std::int64_t n_ = 0;
  bool has_rhs_ = false, is_vector_ = false, in_place_;
  double read_seconds_ = 0, made_seconds_ = 0;  // files; the matrix, when it was made last
  std::vector<std::string> notes_;
  std::optional<io::Generator> generator_;
  std::optional<std::int64_t> column_without_pivot_;
  std::string advice_;
  Signed<Cpu> host_;
  Signed<Cuda> device_;
  Matrix<double> B_;
  std::uint64_t signs_ = 0, signs_of_B_ = 0;  // wanted; there
  io::Progress making_;                       // while a solve lasts
};

}  // namespace lasolve::cli
