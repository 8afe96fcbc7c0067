#include "cli/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench/signs.hpp"
#include "cli/progress.hpp"
#include "core/choose.hpp"
#include "core/cpu/limits.hpp"
#include "core/current_device.hpp"
#include "core/likely_method.hpp"
#include "core/sizes.hpp"
#include "core/stopwatch.hpp"
#include "io/foreign.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/method.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/check_again.hpp"
#include "solvers/watch.hpp"

namespace lasolve::cli {

namespace {

/// Of A and its factors.
int bytes_an_element_of(Precision precision) {
  const Precision named = precision == Precision::automatic ? Precision::fp64 : precision;
  return int(sizeof(double)) + bytes_of(find_solve_precision(named)->storage);
}

/// ‖X − s‖∞, where s is 1 with these signs.
double distance_from_ones(MatrixView<const double> X, bench::Signs s) {
  double worst = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i) {
    const double d = std::abs(X(i, 0) - double(s(i)));
    if (!(d <= worst) && worst == worst) worst = d;  // a NaN stays
  }
  return worst;
}

}  // namespace

Problem::Problem(const Request& request, bool stops_where_singular)
    : name_(request.matrix), op_(request.op), triangle_(request.options.triangle), in_place_(request.in_place) {
  const Method asked = request.options.factorization;
  // With one triangle, or as Cholesky's method, an empty column is no pivot of zero, but an order that is not positive.
  stops_where_singular = stops_where_singular && triangle_ == Uplo::both && !request.options.allow_nonfinite &&
                         (asked == Method::automatic || record_of(asked).failure == Outcome::singular);
  auto read = [&](const std::string& path, int bytes_an_element, bool allow_nonfinite, const char* likely_array) {
    const Stopwatch reading_time;
    Progress progress("reading " + (path == "-" ? "standard input" : path), request.quiet);
    io::MatrixFile file =
        io::read_matrix(path, {.threads = Queue<Cpu>(request.options.threads).threads(),
                               .allow_nonfinite = allow_nonfinite,
                               .bytes_an_element = bytes_an_element,
                               .format = request.format,
                               .progress = progress.talks() ? [&](double share) { progress(share); } : io::Progress(),
                               .decimal_comma = request.decimal_comma,
                               .stops_where_singular = stops_where_singular && *likely_array == 'A',
                               .likely_array = likely_array});
    notes_.insert(notes_.end(), file.notes.begin(), file.notes.end());
    read_seconds_ += reading_time.seconds();
    return file;
  };
  if (lasolve::cli::is_generated(request.matrix)) {
    generator_.emplace(request.matrix);
    n_ = generator_->n();
  } else if (in_place_) {
    refuse_in_place();
  } else {
    // The triangle that is not there may hold anything: the solver looks at the other.
    take_matrix(request,
                read(request.matrix, bytes_an_element_of(request.options.precision),
                     request.options.allow_nonfinite || triangle_ != Uplo::both, "A"),
                stops_where_singular);
  }
  if (const int there = usable_processors(); request.options.threads > there)
    notes_.push_back(fmt::format("{} threads share {} processor{}, which takes longer than with {}",
                                 request.options.threads, there, there == 1 ? "" : "s", there));
  if (!request.rhs.empty()) {
    require_no_generator(request.rhs);
    io::MatrixFile file = read(request.rhs, 8, request.options.allow_nonfinite, "b");
    is_vector_ = file.is_vector, has_rhs_ = true;
    B_ = right_hand_sides(request, std::move(file), n_, notes_);
  }
}

void require_square(const Request& request, const std::string& place, std::int64_t rows, std::int64_t cols,
                    const std::string& question) {
  if (rows == cols) return;
  const char* const hint =
      rows == 0 || cols == 0                    ? ""
      : request.rhs.empty() && cols == rows + 1 ? "; a last column that is b belongs into a file of its own, for --rhs"
      : question.empty() ? "; least squares are not offered: LAPACK's gels and numpy.linalg.lstsq solve them"
                         : "";
  throw io::InputError(fmt::format("{}: error: expected a square matrix, found {} x {}{}{}", place, rows, cols, hint,
                                   question.empty() ? "" : "; " + question));
}

bool is_generated(const std::string& matrix) {
  std::error_code unknown;
  return !std::filesystem::exists(matrix, unknown) && io::Generator::is_meant_by(matrix);
}

void refuse_in_place() {
  throw UsageError("--in-place takes a generator, whose matrix can be made again for the check");
}

void require_no_generator(const std::string& rhs) {
  if (is_generated(rhs))
    throw UsageError(fmt::format("--rhs takes a file, and {} is a generator; without --rhs b = A·1", rhs));
}

void Problem::take_matrix(const Request& request, io::MatrixFile file, bool stops_where_singular) {
  const std::int64_t rows = file.matrix.rows(), cols = file.matrix.cols();
  require_square(request, file.place, rows, cols,
                 cols == rows + 1   ? file.question_of_index
                 : rows == cols + 1 ? file.question_of_header
                                    : "");
  const io::Structure structure = file.structure ? *file.structure : io::structure_of(file.matrix);
  n_ = structure.n;
  advice_ = structure.advice();
  if (!advice_.empty()) notes_.push_back(advice_);
  if (stops_where_singular) column_without_pivot_ = structure.column_without_pivot();
  if (column_without_pivot_) notes_.push_back(structure.what_is_empty() + ", so nothing was factored");
  host_.matrix = std::move(file.matrix);
}

std::optional<Report> Problem::known_outcome(const Options& options) const {
  if (!column_without_pivot_) return std::nullopt;
  const Choice choice = choose(options);
  const SolvePrecision precision = solve_precision_of(options);
  Report report;
  report.outcome = {Outcome::singular, *column_without_pivot_};
  report.n = n_, report.nrhs = nrhs(), report.threads = 1;
  report.gemm = choice.name(), report.device = choice.device_name();
  report.method = Method::lu;
  report.precision = precision.name;
  report.storage = precision.storage, report.products = precision.products, report.residual = Precision::fp64;
  report.phases.seconds_of(Phase::read) = read_seconds_;
  return report;
}

Matrix<double> right_hand_sides(const Request& request, io::MatrixFile file, std::int64_t n,
                                std::vector<std::string>& notes) {
  Matrix<double> B = std::move(file.matrix);
  if (B.rows() == 1 && B.cols() == n && n > 1) {
    Matrix<double> column(n, 1);
    for (std::int64_t i = 0; i < n; ++i) column(i, 0) = B(0, i);
    B = std::move(column);
    notes.push_back(fmt::format("{}: note: a row of {} numbers was taken for a column", request.rhs, n));
  }
  const auto doubt = [&](const std::string& what) {
    notes.push_back(fmt::format("{}: note: {}", request.rhs, what));
    if (request.quiet) fmt::print(stderr, "lasolve: {}\n", notes.back());  // X may be that of another system
  };
  if (file.may_have_decimal_commas && B.rows() == n)
    doubt(
        fmt::format("a comma separates, so these are 2 columns; if 1,5 means 1.5 there, --decimal-comma reads it, or "
                    "'tr , . <{}' makes it so",
                    request.rhs == "-" ? "FILE" : io::shell_word(request.rhs)));
  if (!file.question_of_index.empty() && B.rows() == n) doubt(file.question_of_index);
  if (B.rows() == n) return B;
  const bool lies = B.cols() == n, is_row = B.rows() == 1;
  throw io::InputError(fmt::format(
      "{}: error: expected right-hand sides of {} rows, as the matrix has, found {}{}", file.place, n, B.rows(),
      lies ? fmt::format("; each of the {} rows has {} numbers: is it transposed?", B.rows(), n)
      : B.rows() == n + 1 && !file.question_of_header.empty() ? "; " + file.question_of_header
      : is_row ? fmt::format(" with {} numbers: it takes a row for each number", B.cols())
               : ""));
}

template <class Space>
Matrix<double, Space> Problem::generated(Queue<Space>& q, int bytes_an_element) {
  constexpr std::int64_t elements_at_once = 1 << 24;  // which take a moment
  const Stopwatch making;
  io::require_memory<Space>(*generator_, bytes_an_element);
  Matrix<double, Space> A(n_, n_);
  const std::int64_t at_once = making_ ? std::max<std::int64_t>(1, elements_at_once / n_) : n_;
  for (std::int64_t j = 0; j < n_; j += at_once) {
    if (making_) making_(double(j) / double(n_));
    io::generate(q, *generator_, A.view().columns(j, std::min(at_once, n_ - j)), j);
  }
  made_seconds_ = making.seconds();
  return A;
}

template <class Space>
MatrixView<const double, Space> Problem::at(int queue, Signed<Space>& A, Precision factors) {
  Queue<Space> q(queue);
  const CurrentDevice current(q);
  if (!A.matrix) A.matrix = generated(q, bytes_an_element_of(factors));
  if (!has_rhs_ && B_.cols() == 0) B_ = io::row_sums(q, system_matrix<double, Space>(*A.matrix, op_, triangle_));
  if (A.signs != signs_) {
    const bench::Signs signs{A.signs, signs_};
    bench::change_signs(q, signs, A.matrix->view(), signs);
    q.finish();
    A.signs = signs_;
  }
  sign_rhs();
  return *A.matrix;
}

void Problem::sign_rhs() {
  if (signs_of_B_ == signs_) return;
  bench::change_signs(Queue<Cpu>(1), {signs_of_B_, signs_}, B_.view(), {});
  signs_of_B_ = signs_;
}

template <class Space>
Report Problem::solve_in_place(int queue, Options options, Matrix<double>& X) {
  Queue<Space> q(queue);
  const CurrentDevice current(q);
  Matrix<double, Space> A = generated(q, 8);
  if (!has_rhs_ && B_.cols() == 0) B_ = io::row_sums(q, system_matrix<double, Space>(A, op_, triangle_));
  options.check = false;  // that is done here
  Factorization<double> factors(std::move(A), options);
  X = Matrix<double>(n_, nrhs());
  Report report = factors.solve(B_, X, op_);
  report = combined(factors.report(), std::move(report));
  if (!report.outcome.has_solution()) return report;
  const auto tell = progress_of(Step::check);
  const auto columns = [&](Queue<Space>& its, std::int64_t first, MatrixView<double, Space> some) {
    if (tell) tell(double(first) / double(n_));
    io::generate(its, *generator_, some, first);
  };
  const Checked checked = check_again<Space>(q, columns, op_, triangle_, B_, X);
  const double hpl = hpl_residual(checked.backward_error, n_, unit_roundoff_of(Precision::fp64));
  report.backward_error = checked.backward_error, report.hpl_residual = hpl, report.phases += checked.phases;
  report.notes.push_back("in place: for the check the matrix was made again, a few columns at a time");
  if (hpl < hpl_threshold) return report;
  report.outcome = {Outcome::inaccurate, 0}, report.digits.reset();
  report.notes.push_back("in place: nothing is left of the matrix to refine the solution with");
  return report;
}

Factorization<double> Problem::generated_in_parts(int device, const Options& options) {
  Columnwise<double> columns;
  columns.n = n_;
  columns.on_cuda = [this](Queue<Cuda>& q, std::int64_t first, MatrixView<double, Cuda> to) {
    io::generate(q, *generator_, to, first);
  };
  if (!has_rhs_ && B_.cols() == 0) {
    Queue<Cuda> q(device);
    const CurrentDevice current(q);
    const std::int64_t at_once = std::min<std::int64_t>(n_, 1024);
    Matrix<double, Cuda> some(n_, at_once);
    B_ = Matrix<double>(n_, 1);
    for (std::int64_t i = 0; i < n_; ++i) B_(i, 0) = 0;
    for (std::int64_t j = 0; j < n_; j += at_once) {
      const auto part = some.view().columns(0, std::min(at_once, n_ - j));
      columns.on_cuda(q, j, part);
      const Matrix<double> sums = io::row_sums(q, Operand<double, Cuda>(part, op_));
      for (std::int64_t i = 0; i < sums.rows(); ++i) B_(op_ == Op::none ? i : j + i, 0) += sums(i, 0);
    }
  }
  return FactorizationOf<double>::columns(std::move(columns), options);
}

std::pair<MatrixView<const double>, MatrixView<const double>> Problem::on_host(int threads) {
  const MatrixView<const double> A = at(threads, host_, Precision::fp64);
  return {A, B_};
}

void Problem::see_columns(int threads, const SeeColumns& see) {
  Queue<Cpu> q(threads);
  if (host_.matrix) {
    draw_signs(0);
    return see(q, 0, on_host(threads).first);
  }
  constexpr std::int64_t at_once = 64;
  Matrix<double> some(n_, std::min(at_once, n_));
  for (std::int64_t j = 0; j < n_; j += at_once) {
    const auto columns = some.view().columns(0, std::min(at_once, n_ - j));
    io::generate(q, *generator_, columns, j);
    see(q, j, columns);
  }
}

MatrixView<const double> Problem::rhs() {
  draw_signs(0);
  sign_rhs();
  return B_;
}

std::vector<double> Problem::without_signs(const Matrix<double>& X) const {
  const bench::Signs signs{signs_};
  std::vector<double> x;
  for (std::int64_t i = 0; i < X.rows(); ++i) x.push_back(double(signs(i)) * X(i, 0));
  return x;
}

Method Problem::method_for(const Options& options) const {
  if (options.factorization != Method::automatic) return options.factorization;
  if (triangle_ != Uplo::both) return Method::cholesky;
  if (!generator_) return lasolve::likely_method(n_, *host_.matrix);
  io::Formula formula = generator_->formula();
  formula.table = generator_->table().data();
  return lasolve::likely_method(n_, formula);
}

std::string Problem::what_would_fit(const Options& options) const {
  const Choice choice = choose(options);
  const double elements = double(n_) * double(n_);
  const double free =
      double(choice.device().kind == Device::cuda ? Memory<Cuda>::available() : Memory<Cpu>::available());
  const int there = host_.matrix && choice.device().kind == Device::cpu ? int(sizeof(double)) : 0;
  std::string fits;
  const auto offer_bytes = [&](const char* option, double bytes) {
    if (bytes <= free) fits += fmt::format("{}{} ({})", fits.empty() ? "" : ", or ", option, in_bytes(bytes));
  };
  const auto offer = [&](const char* option, int bytes_an_element) {
    offer_bytes(option, elements * (bytes_an_element - there));
  };
  const bool coarse = is_coarser_than<double>(options.precision, options.storage);
  if (!coarse && !in_place_ && choice.offers(Precision::fp32))
    offer("--precision fp32", bytes_an_element_of(Precision::fp32));
  // Each of several has its part of the factors, and some panels of others.
  const std::size_t cards = choice.device().kind == Device::cuda ? cuda_devices().names.size() : 1;
  constexpr double with_panels = 1.2;
  if (cards > 1 && cards > options.cards.size() && triangle_ == Uplo::both)
    offer_bytes("--device cuda:all", with_panels * elements * 8 / double(cards));
  if (!in_place_ && generator_) offer(coarse ? "--precision fp64 --in-place" : "--in-place", int(sizeof(double)));
  if (fits.empty() && generator_) {
    constexpr double beside_workspace = 0.9;
    const int bytes = in_place_ ? int(sizeof(double)) : bytes_an_element_of(options.precision);
    const auto thousands = std::int64_t(std::sqrt(beside_workspace * free / bytes) / 1000);
    if (thousands > 0 && 1000 * thousands < n_) fits = fmt::format("n = {}", 1000 * thousands);
  }
  return fits;
}

Report Problem::solve(const Options& options, Matrix<double>& X, bool from_host, const io::Progress& making) {
  const Choice choice = choose(options);
  making_ = making;
  const bool on_cuda = choice.backend.index() == 1;
  Report report;
  if (in_place_) {
    report = on_cuda ? solve_in_place<Cuda>(choice.cuda_device, options, X)
                     : solve_in_place<Cpu>(options.threads, options, X);
  } else {
    const bool is_there = device_.matrix && options.device_memory == 0;  // of an earlier run, so there is room for it
    const bool in_parts = generator_ && on_cuda &&
                          (options.cards.size() > 1 ||
                           (!is_there && goes_out_of_core(options, choice, {.n = n_, .element = Precision::fp64})));
    if (in_parts) signs_ = 0;  // that is read again as it is made
    Factorization<double> factors =
        in_parts ? generated_in_parts(choice.cuda_device, options)
        : generator_ && on_cuda && !from_host
            ? Factorization<double>(at(choice.cuda_device, device_, options.precision), options)
            : Factorization<double>(at(options.threads, host_, options.precision), options);
    X = Matrix<double>(n_, nrhs());
    report = factors.solve(B_, X, op_);
    report = combined(factors.report(), std::move(report));
  }
  making_ = {};
  report.phases.seconds_of(Phase::read) = read_seconds_ + made_seconds_;
  if (!has_rhs_ && report.backward_error) report.forward_error = distance_from_ones(X, {signs_});
  return report;
}

}  // namespace lasolve::cli
