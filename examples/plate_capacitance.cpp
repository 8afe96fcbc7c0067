// The capacitance of a thin square plate, by boundary elements.
//
// A charge density q on the unit square, held at unit potential, satisfies
//
//     ∫ q(y) / |x − y| dy = 1   for every x on the plate,       C / (4πε₀) = ∫ q(y) dy.
//
// No closed form is known; the literature has C / (4πε₀) = 0.36679. We cut the plate into m × m rectangles, let q be
// constant on each, and ask for potential 1 at each centre: a dense system of n = m² equations,
//
//     A(i, j) = ∫ over rectangle j of 1 / |xᵢ − y| dy,   A q = 1,   C / (4πε₀) = Σ qⱼ·areaⱼ.
//
// q grows like the inverse root of the distance to an edge, so the grid is refined there; as its rectangles differ in
// size, A is not symmetric.
//
//     plate_capacitance                  prints a table of convergence
//     plate_capacitance --write DIR [M]  writes the system for m = M (16) to DIR/A.mtx and DIR/b.mtx instead
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

using lasolve::Matrix;

struct Rectangle {
  double x0, x1, y0, y1;
  double area() const { return (x1 - x0) * (y1 - y0); }
};

/// The unit square as m × m rectangles, with grid lines at (1 − cos(πk/m)) / 2; rectangle i + j·m is i-th in x and
/// j-th in y.
static std::vector<Rectangle> refined_grid(int m) {
  const auto line = [m](int k) { return std::pow(std::sin(std::numbers::pi * k / (2 * m)), 2); };
  std::vector<Rectangle> grid;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < m; ++i) grid.push_back({line(i), line(i + 1), line(j), line(j + 1)});
  return grid;
}

/// ∫∫ 1 / √(u² + v²) du dv, of which the derivative by u and v is the integrand. u and v are not 0.
static double antiderivative(double u, double v) {
  return u * std::asinh(v / std::abs(u)) + v * std::asinh(u / std::abs(v));
}

/// The potential at (x, y) of a unit charge density on a rectangle, exactly.
static double potential(const Rectangle& r, double x, double y) {
  return antiderivative(r.x1 - x, r.y1 - y) - antiderivative(r.x0 - x, r.y1 - y) - antiderivative(r.x1 - x, r.y0 - y) +
         antiderivative(r.x0 - x, r.y0 - y);
}

static Matrix<double> potential_matrix(const std::vector<Rectangle>& grid) {
  const auto n = std::int64_t(grid.size());
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      A(i, j) = potential(grid[j], (grid[i].x0 + grid[i].x1) / 2, (grid[i].y0 + grid[i].y1) / 2);
  return A;
}

static Matrix<double> ones(std::int64_t n) {
  Matrix<double> b(n, 1);
  for (std::int64_t i = 0; i < n; ++i) b(i, 0) = 1;
  return b;
}

/// Twelve digits: far more than the model is worth, and the same on every machine.
static bool write(const std::string& path, const Matrix<double>& A) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return std::perror(path.c_str()), false;
  std::fprintf(file, "%%%%MatrixMarket matrix array real general\n%lld %lld\n", static_cast<long long>(A.rows()),
               static_cast<long long>(A.cols()));
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) std::fprintf(file, "%.12g\n", A(i, j));
  return std::fclose(file) == 0;
}

int main(int argc, char** argv) {
  if (argc > 2 && argv[1] == std::string("--write")) {
    const std::string directory = argv[2];
    const auto grid = refined_grid(argc > 3 ? std::atoi(argv[3]) : 16);
    const auto A = potential_matrix(grid);
    return write(directory + "/A.mtx", A) && write(directory + "/b.mtx", ones(A.rows())) ? 0 : 1;
  }

  std::printf("   m      n  C/(4πε₀)     change  extrapolated\n");
  double capacitance = 0, change = 0, extrapolated = 0;
  for (int m = 4; m <= 32; m *= 2) {
    const auto grid = refined_grid(m);
    const auto A = potential_matrix(grid), b = ones(A.rows());
    Matrix<double> q(A.rows(), 1);
    if (!lasolve::solve(A, b, q).outcome.ok()) return 1;

    double sum = 0;
    for (std::int64_t i = 0; i < A.rows(); ++i) sum += q(i, 0) * grid[i].area();
    const double before = change;
    change = sum - capacitance;
    capacitance = sum;
    std::printf("%4d %6d  %.8f", m, m * m, capacitance);
    if (m > 4) std::printf("  %9.6f", change);
    // The changes shrink by a constant factor: sum the geometric series of those that would follow.
    if (m > 8) std::printf("  %.8f", extrapolated = capacitance + change * change / (before - change));
    std::printf("\n");
  }
  return std::abs(capacitance / 0.36679 - 1) < 0.002 && std::abs(extrapolated / 0.36679 - 1) < 0.001 ? 0 : 1;
}
