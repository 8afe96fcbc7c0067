#include "core/tuning.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/choose.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

constexpr ColumnsBySize always(std::int64_t columns) {
  return {{columns, columns, columns, columns}, {never, never, never}};
}

/// Why: docs/how-lu-works.md, docs/how-cholesky-works.md, and of each value docs/lab.
constexpr Tuning hopper = {
    .cholesky_goes_left = 1,
    .lu = {{128, 768, 1024, 2048}, {3072, 12288, 24576}},
    .lu_left = {{1024, 2048, 4096, 4096}, {12288, 24576, never}},
    .cholesky = always(2048),
    .cholesky_left = {{256, 1536, 1536, 1536}, {24576, never, never}},
    .cholesky_left_fp32 = always(256),
    .lu_panels_are_the_bottleneck = 8192,
    .lu_step = 128,
    .lu_widest_panel = 768,
    .lu_first_panel_fp64 = 384,
    .lu_first_panel_from = 6145,
    .lu_hidden_panels_of_first = 64,
    .lu_panel_multiprocessors = 40,
    .lu_tournament_rows = 8192,
    .lu_soon_columns = 128,
    .lu_interchange_L_late_from = 4097,
    .lu_far_columns_fp64 = 2048,
    .lu_far_columns_fp32 = 0,
    .lu_far_from = 7169,
    .lu_leaf = 128,
    .lu_leaf_elements = 0,
    .cholesky_panel_least = 256,
    .cholesky_panel_part = 16,
    .cholesky_phases_from = 8193,
    .cholesky_leaf = 128,
    .cholesky_leaf_multiprocessors = 4,
    .cholesky_product_binds = 5'000'000,
    .cholesky_rows_apart_fp32 = 1500,
    .cholesky_work_apart_fp32 = 3'000'000,
    .cholesky_narrow_columns = 256,
    .cholesky_narrow_work_fp64 = 1 << 24,
    .cholesky_narrow_fp32_per_fp64 = 4,
    .cholesky_left_wide = 1024,
    .cholesky_left_beside = 8,
    .cholesky_diagonal_update = 256,
    .symmetric_update = 2048,
    .solve_few_rhs = 8,
    .solve_sync_free_rhs = 128,
    .solve_halves_from = 257,
    .solve_order = 128,
    .lookahead_64_rows_from = 2049,
    .lookahead_128_rows_from = 4097,
    .arriving_bytes = 64 << 20,
    .waited_copy_bytes = 8 << 20,
    .work_worth_sharing = 1 << 18,
    .small_system_order = 128,
    .small_cholesky_order = 64,
    .cholesky_tried_order = 256,
    .one_kernel_checks_order = 1024,
    .refined_from = 8192,
    .cublas_even_rows_work = 4'000'000'000,
};

/// No clusters that hold a column while its rows are interchanged: L is interchanged panel by panel.
constexpr Tuning without_clusters() {
  Tuning t = hopper;
  t.lu_interchange_L_late_from = never;
  t.lu_panel_multiprocessors = 0;
  return t;
}

constexpr Tuning cpu() {
  Tuning t = hopper;
  t.cholesky_goes_left = 0;
  t.lu = t.lu_left = t.cholesky = t.cholesky_left = t.cholesky_left_fp32 = {{64, 128, 192, 192}, {512, 2048, never}};
  t.cholesky.from[0] = 320;
  t.lu_panels_are_the_bottleneck = 0;
  t.lu_hidden_panels_of_first = 1;
  t.lu_interchange_L_late_from = never;
  t.lu_far_columns_fp64 = t.lu_far_columns_fp32 = 0;
  t.lu_tournament_rows = 512;
  t.lu_leaf = 8;
  t.lu_leaf_elements = 2048;
  t.cholesky_panel_part = 1;
  t.cholesky_panel_least = never;
  t.cholesky_phases_from = 0;
  t.cholesky_leaf = 64;
  t.cholesky_product_binds = 0;
  t.cholesky_left_wide = never;
  t.symmetric_update = 64;
  t.solve_few_rhs = 7;
  t.solve_order = 64;
  t.waited_copy_bytes = 0;
  t.cholesky_tried_order = 0;
  t.refined_from = 512;
  return t;
}

constexpr TuningTable table(std::string_view family, const char* measured, Tuning values) {
  values.family = family;
  return {measured, values};
}

constexpr TuningTable tables[] = {
    table("cpu", "on an AMD EPYC", cpu()),
    table("hopper", "on an H200", hopper),
    table("ampere", "not measured: as hopper, but without clusters", without_clusters()),
    table("consumer", "not measured: as hopper, but without clusters of 16", without_clusters()),
    table("blackwell", "not measured: as hopper", hopper),
};

std::vector<TuningField> make_fields(std::span<const GemmBackend<Cpu>* const> of_cpu,
                                     std::span<const GemmBackend<Cuda>* const> of_cuda) {
  std::vector<TuningField> fields;
  Device::Kind device = Device::automatic;
  const auto add = [&](const char* name, std::int64_t Tuning::*member, const char* unit, const char* decides,
                       std::int64_t least = 1) {
    fields.push_back({name, unit, decides, device, least, [member](Tuning& t) -> std::int64_t& { return t.*member; }});
  };
  const auto add_columns = [&](const std::string& name, ColumnsBySize Tuning::*member, const std::string& of) {
    for (int i = 0; i < 4; ++i) {
      const std::string columns = name + "_columns_" + std::to_string(i), from = name + "_from_" + std::to_string(i);
      if (i > 0)
        fields.push_back({from, "n", "the least for " + columns, device, 1,
                          [member, i](Tuning& t) -> std::int64_t& { return (t.*member).from[i - 1]; }});
      fields.push_back({columns, "columns",
                        "of a panel of " + of + (i == 0 ? ", for small n" : ", from " + from + " on"), device, 1,
                        [member, i](Tuning& t) -> std::int64_t& { return (t.*member).columns[i]; }});
    }
  };
#define FIELD(name) #name, &Tuning::name
  add(FIELD(cholesky_goes_left), "1: yes", "whether a Cholesky that names no schedule is left-looking", 0);
  add_columns(FIELD(lu), "an LU, right-looking or recursive");
  add_columns(FIELD(lu_left), "a left-looking LU");
  add_columns(FIELD(cholesky), "a Cholesky, right-looking or recursive");
  add_columns(FIELD(cholesky_left), "a left-looking Cholesky in fp64");
  add_columns(FIELD(cholesky_left_fp32), "a left-looking Cholesky in fp32");
  add(FIELD(lu_panels_are_the_bottleneck), "columns",
      "the most that are left where panels of LU are the bottleneck, not products", 0);
  add(FIELD(lu_step), "columns", "of a step of a panel that is the bottleneck: one kernel");
  add(FIELD(lu_widest_panel), "columns", "the most of a panel that is the bottleneck");
  add(FIELD(lu_first_panel_fp64), "columns", "the most of the first panel of a large matrix in fp64");
  add(FIELD(lu_first_panel_from), "n", "the least of a matrix that is large for that");
  add(FIELD(lu_hidden_panels_of_first), "parts",
      "of the columns, of which the first panel has one, where products hide panels");
  add(FIELD(cholesky_panel_least), "columns",
      "the least of a panel of a right-looking Cholesky, and what others are multiples of");
  add(FIELD(cholesky_panel_part), "parts",
      "of the columns left, of which a panel of a right-looking Cholesky has at most one");
  add(FIELD(cholesky_left_wide), "columns", "of a panel from which the first and the last are narrower");
  add(FIELD(cholesky_left_beside), "panels", "like one of them that have room behind it");
  add(FIELD(cholesky_diagonal_update), "columns", "of a diagonal block that are updated at once");
  add(FIELD(symmetric_update), "columns", "the most of a symmetric update that is one product; larger ones are halved");
  add(FIELD(solve_few_rhs), "columns", "the most with which a triangle is read once, whatever its order", 0);
  add(FIELD(work_worth_sharing), "operations", "the least that the cores of the host share", 0);
  add(FIELD(refined_from), "n", "the least where factors in fp32 are refined, if an accuracy is asked for", 0);
  add(FIELD(lu_tournament_rows), "rows", "the most of a panel that need no tournament, where one is asked for");
  device = Device::cpu;  // kernels of CUDA have theirs
  add(FIELD(lu_leaf), "columns", "the most of a panel that is factored without being halved");
  add(FIELD(lu_leaf_elements), "elements",
      "the most of a panel that is factored without being halved, if it has more columns", 0);
  add(FIELD(cholesky_leaf), "columns", "the most of a panel that is factored without being halved");
  add(FIELD(solve_order), "n", "of a triangle that is not halved");
  device = Device::cuda;
  add(FIELD(lu_panel_multiprocessors), "multiprocessors",
      "that panels of LU have to themselves beside quick products; 0: they share all", 0);
  add(FIELD(lu_soon_columns), "columns", "the most of a panel behind which no columns are brought up to date apart");
  add(FIELD(lu_interchange_L_late_from), "n", "the least where rows of L are interchanged at the end, if a device can");
  add(FIELD(lu_far_columns_fp64), "columns", "at the end of an LU in fp64 that wait for all others", 0);
  add(FIELD(lu_far_columns_fp32), "columns", "the same in fp32", 0);
  add(FIELD(lu_far_from), "n", "the least of a matrix that has such columns");
  add(FIELD(cholesky_phases_from), "n", "the least where the steps of a left-looking Cholesky are timed one by one", 0);
  add(FIELD(cholesky_leaf_multiprocessors), "blocks", "of 32 rows more than multiprocessors that a leaf solves itself",
      0);
  add(FIELD(cholesky_product_binds), "elements", "the least product of columns and rows that takes longer than a panel",
      0);
  add(FIELD(cholesky_rows_apart_fp32), "rows", "the most that go with their diagonal block in fp32", 0);
  add(FIELD(cholesky_work_apart_fp32), "elements", "the most of a product beside which they do", 0);
  add(FIELD(cholesky_narrow_columns), "columns", "the most of a product that the kernel within panels computes", 0);
  add(FIELD(cholesky_narrow_work_fp64), "multiplications", "the most of such a product in fp64", 0);
  add(FIELD(cholesky_narrow_fp32_per_fp64), "rate", "of fp32 over that of fp64: the most where that kernel takes fp32",
      0);
  add(FIELD(solve_sync_free_rhs), "columns", "the most for a synchronization-free solve", 0);
  add(FIELD(solve_halves_from), "n", "the least where twice as many are solved for in halves");
  add(FIELD(lookahead_64_rows_from), "rows", "the least below a panel for tiles of 64 rows in the look-ahead update");
  add(FIELD(lookahead_128_rows_from), "rows", "the least for tiles of 128");
  add(FIELD(waited_copy_bytes), "bytes",
      "the least of A where its copy, and what is asked of it, is waited for before its factorization is timed", 0);
  add(FIELD(small_cholesky_order), "n", "the most of such a system where Cholesky is by elimination; beyond, by a leaf",
      0);
  add(FIELD(cholesky_tried_order), "n",
      "the most of a matrix that Cholesky tries to factor while it is found out whether it is symmetric", 0);
  add(FIELD(one_kernel_checks_order), "n",
      "the most of a matrix of which a residual with few right-hand sides, or its row sums, are one kernel", 0);
  add(FIELD(small_system_order), "n", "the most of a system that one kernel factors and another solves; 0: none is", 0);
  add(FIELD(arriving_bytes), "bytes", "the least of a matrix that is factored while it is copied to a device", 0);
  add(FIELD(cublas_even_rows_work), "multiplications", "the least where cublas gets an even number of rows in fp64", 0);
#undef FIELD
  const auto add_of = [&](Device::Kind kind, const auto& kernels) {
    for (const auto* kernel : kernels)
      for (const Threshold* t : kernel->thresholds)
        fields.push_back(
            {t->name, t->unit, t->decides, kind, t->least, [t](Tuning& all) -> std::int64_t& { return all[*t]; }});
  };
  add_of(Device::cpu, of_cpu), add_of(Device::cuda, of_cuda);
  return fields;
}

}  // namespace

inline namespace LASOLVE_ABI {

std::span<const TuningField> tuning_fields() {
  constinit static NeverDestroyed<const std::vector<TuningField>> fields;
  const auto of_cpu = gemm_backends<Cpu>();  // made before, as nothing else is while fields are
  const auto of_cuda = gemm_backends<Cuda>();
  return fields.get([&] { return make_fields(of_cpu, of_cuda); });
}

void tune(Tuning& tuning, const std::string& name, std::int64_t value) {
  std::vector<std::string> known;
  for (const TuningField& f : tuning_fields()) {
    known.push_back(f.name);
    if (f.name != name) continue;
    if (value < f.least || value > never)
      throw std::invalid_argument(name + " takes a whole number from " + std::to_string(f.least) + " to " +
                                  std::to_string(never) + ", not " + std::to_string(value));
    f.of(tuning) = value;
    return;
  }
  const std::string hint = did_you_mean(name, known);
  throw std::invalid_argument("there is no tuning of '" + name + "'" +
                              (hint.empty() ? "; 'lasolve list --tuning' prints all that there is" : hint));
}

std::string complaint_about(const Tuning& tuning) {
  for (const TuningField& f : tuning_fields())
    if (f.in(tuning) < f.least || f.in(tuning) > never)
      return f.name + " is " + std::to_string(f.in(tuning)) + ", and takes " + std::to_string(f.least) + " to " +
             std::to_string(never);
  const auto ascending = [](const char* name, const ColumnsBySize& c) -> std::string {
    for (int i = 1; i < 3; ++i)
      if (c.from[i] < c.from[i - 1])
        return std::string(name) + "_from_" + std::to_string(i + 1) + " is " + std::to_string(c.from[i]) +
               ", which is less than " + name + "_from_" + std::to_string(i) + ", " + std::to_string(c.from[i - 1]);
    return "";
  };
  for (const std::string& complaint :
       {ascending("lu", tuning.lu), ascending("lu_left", tuning.lu_left), ascending("cholesky", tuning.cholesky),
        ascending("cholesky_left", tuning.cholesky_left), ascending("cholesky_left_fp32", tuning.cholesky_left_fp32)})
    if (!complaint.empty()) return complaint;
  return "";
}

}  // namespace LASOLVE_ABI

std::span<const TuningTable> tuning_tables() { return tables; }

static constexpr const TuningTable& table_of(std::string_view family) {
  return *std::find_if(std::begin(tables), std::end(tables),
                       [&](const TuningTable& t) { return t.values.family == family; });
}
const TuningTable& cpu_tuning() {
  static constexpr const TuningTable& table = table_of("cpu");
  return table;
}

const TuningTable& tuning_for(const DeviceProperties& p) {
  if (p.shared_memory <= least_shared_memory) return table_of("consumer");
  const int generation = p.capability / 10;
  return table_of(generation == 8 ? "ampere" : generation == 9 ? "hopper" : "blackwell");
}

inline namespace LASOLVE_ABI {

Tuning tuning_of(const Device& device) {
  require_device(device);
  if (device.kind != Device::cuda) return cpu_tuning().values;
  if (const std::string why = why_no_cuda_device(device.index); !why.empty()) throw MachineError(why);
  return tuning_for(device_properties(device.index)).values;
}

}  // namespace LASOLVE_ABI

}  // namespace lasolve
