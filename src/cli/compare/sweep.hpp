// Sizes of a comparison one after the other, those that were measured before among them.
#pragma once

#include "cli/compare/run.hpp"
#include "cli/json.hpp"

namespace lasolve::cli {

/// A comparison that was measured before.
struct Earlier {
  compare::Comparison comparison;
  Json environment;
};

/// Measures size after size, and writes what there is after each.
class Sweep {
 public:
  explicit Sweep(const CompareRequest&);

  void run();

  const compare::Comparison& result() const { return all_; }
  const Json& where() const { return environment_; }
  std::string json() const;

 private:
  std::vector<compare::Row> measure(std::int64_t n, compare::Size& size, const std::function<void(double)>& say);
  std::vector<compare::Row> measure_contestants(std::int64_t n, compare::Size& size,
                                                const std::function<void(double)>& say);
  void try_backends();
  void add_to_baseline(const Earlier& more, const std::string& path);
  void draw_beside(Earlier other);
  void take_over_kernels(const Json& before);
  void continue_with(Earlier before);
  bool is_asked_for(std::int64_t n) const;
  std::string lacking(std::int64_t n) const;
  const compare::Size* find_before(std::int64_t n) const;
  void refuse_to_lose(const compare::Size&) const;
  void take_over(const compare::Size&);
  void add(std::vector<compare::Row>, compare::Size);
  void judge();
  void remark_on_other_matrices(const compare::Comparison& other, const std::string& name);

  const CompareRequest& request_;
  Json environment_;
  std::vector<Contestant> contestants_;
  std::vector<std::int64_t> sizes_;  // asked for; 0: that of the matrix
  compare::Comparison all_;
  std::optional<compare::Comparison> before_;
  std::vector<std::string> measured_again_;  // what is said of it
  std::optional<Earlier> baseline_, beside_;
};

}  // namespace lasolve::cli
