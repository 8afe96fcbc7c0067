// Tables of tuning: which device has which, that they are in order, and that an H200 decides as it did when thresholds stood in
// the code.
#include "core/tuning.hpp"

#include <limits>
#include <set>

#include "cards.hpp"
#include "core/backend_table.hpp"
#include "devices.hpp"
#include "gemm/cuda/cublas_choices.hpp"
#include "gemm/cuda/tensor_choices.hpp"
#include "solvers/methods.hpp"
#include "solvers/tuning.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

TEST(TuningTables, are_found_by_what_a_device_has) {
  const auto family = [](const DeviceProperties& p) { return std::string(tuning_for(p).values.family); };
  EXPECT_EQ(family(h200()), "hopper");
  EXPECT_EQ(family(pretend(h200(), "mig-1g")), "hopper");
  EXPECT_EQ(family(pretend(h200(), "a100")), "ampere");
  EXPECT_EQ(family(pretend(h200(), "rtx4090")), "consumer");
  EXPECT_EQ(family(pretend(h200(), "rtx5090")), "consumer");
  DeviceProperties b200 = h200();
  b200.capability = 100;
  EXPECT_EQ(family(b200), "blackwell");
  EXPECT_EQ(cpu_tuning().values.family, "cpu");
  EXPECT_EQ(tuning_of(Device{}), cpu_tuning().values);
}

TEST(TuningTables, have_names_of_their_own_and_values_that_make_sense) {
  std::set<std::string_view> families;
  for (const TuningTable& table : tuning_tables()) {
    const Tuning& t = table.values;
    EXPECT_TRUE(families.insert(t.family).second) << t.family;
    EXPECT_EQ(complaint_about(t), "") << t.family;
    EXPECT_LE(t[tensor_groups_of_128_bytes], t[tensor_groups_of_32_bytes]);
    EXPECT_LE(t.lookahead_64_rows_from, t.lookahead_128_rows_from);
    EXPECT_LE(t[cublas_narrow_least], t[cublas_narrow_most]);
    EXPECT_LE(t[cublas_narrow_work], t[cublas_split_k_work]);
    EXPECT_LE(t[cublas_transpose_depth], t[cublas_transpose_depth_most]);
    EXPECT_LE(t.lu_first_panel_fp64, t.lu_widest_panel);
    EXPECT_LE(t.lu_step, t.lu_first_panel_fp64);
    EXPECT_TRUE(t.lu_far_columns_fp64 == 0 || t.lu_far_from > t.lu_far_columns_fp64);
  }
  EXPECT_EQ(families.size(), 5u);
}

/// A value that no field names could not be printed, nor set.
TEST(TuningFields, name_each_value_once) {
  Tuning t = cpu_tuning().values;
  std::set<std::string> names;
  std::set<const std::int64_t*> places;
  for (const TuningField& f : tuning_fields()) f.of(t) += 0;  // thresholds of kernels now have their place
  for (const TuningField& f : tuning_fields()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_TRUE(places.insert(&f.of(t)).second) << f.name;
    EXPECT_FALSE(f.decides.empty() || std::string(f.unit).empty()) << f.name;
  }
  EXPECT_EQ((places.size() - t.of_kernels.size()) * sizeof(std::int64_t),
            sizeof(Tuning) - sizeof t.family - sizeof t.of_kernels);
}

/// Of a kernel that does something else from k = 512 on, and from 64 on where there are no clusters.
constexpr std::pair<std::string_view, std::int64_t> without_clusters[] = {{"ampere", 64}, {"consumer", 64}};
constexpr Threshold deep_from{"split_deep_from", 512, "k", "the least where k is split", 1, without_clusters};
constexpr const Threshold* thresholds_of_split[] = {&deep_from};
constexpr GemmBackend<Cpu> split{.name = "split", .summary = "", .thresholds = thresholds_of_split};
const bool added = (backend_table<Cpu>().add({"split", &split}), true);

TEST(ThresholdOfAKernel, is_as_its_file_says_until_it_is_set) {
  ASSERT_TRUE(added);
  for (const TuningTable& table : tuning_tables()) {
    const std::string_view family = table.values.family;
    EXPECT_EQ(table.values[deep_from], family == "ampere" || family == "consumer" ? 64 : 512) << family;
  }
  const auto fields = tuning_fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [](auto& f) { return f.name == deep_from.name; });
  ASSERT_NE(field, fields.end());
  EXPECT_EQ(field->device, Device::cpu);
  EXPECT_EQ(field->decides, deep_from.decides);
  Tuning t = cpu_tuning().values;
  EXPECT_EQ(field->in(t), 512);
  EXPECT_EQ(t, cpu_tuning().values) << "it was only read";
  tune(t, "split_deep_from", 100);
  EXPECT_EQ(std::as_const(t)[deep_from], 100);
  EXPECT_NE(t, cpu_tuning().values);
  Queue<Cpu> q(1);
  EXPECT_EQ(q.tuning()[deep_from], 512);
  q.tune(t);
  EXPECT_EQ(q.tuning()[deep_from], 100);
}

TEST(ThresholdOfAKernel, has_the_name_of_its_kernel) {
  const auto expect_named = [](const auto& backends) {
    for (const auto* backend : backends)
      for (const Threshold* t : backend->thresholds)
        EXPECT_TRUE(std::string(t->name).starts_with(std::string(backend->name) + "_")) << t->name;
  };
  expect_named(gemm_backends<Cpu>()), expect_named(gemm_backends<Cuda>());
}

TEST(TuningFields, are_set_by_name_and_refuse_nonsense) {
  Tuning t = cpu_tuning().values;
  for (const TuningField& f : tuning_fields()) {
    tune(t, f.name, f.least + 7);
    EXPECT_EQ(f.in(t), f.least + 7);
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { tune(t, f.name, f.least - 1); }), f.name));
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { tune(t, f.name, never + 1); }), f.name));
  }
  const std::string complaint = complaint_of<std::invalid_argument>([&] { tune(t, "lu_stepp", 1); });
  EXPECT_TRUE(says(complaint, "lu_stepp") && says(complaint, "lu_step'"));
  t = cpu_tuning().values;
  t.lu.from[1] = t.lu.from[0] - 1;
  EXPECT_TRUE(says(complaint_about(t), "lu_from_2"));
  t = cpu_tuning().values;
  t.lu_step = 0;
  EXPECT_TRUE(says(complaint_about(t), "lu_step"));
}

TEST(TuningOfASolve, is_that_of_the_options) {
  const Matrix<double> A = random_with_condition(300, 10, false), B = right_hand_sides<double>({A.view(), Op::none}, 2);
  Options o;
  o.device.kind = Device::cpu;
  EXPECT_EQ(solve_for(A, B, o).report.block_size, 64);
  o.tuning = tuning_of(o.device);
  o.tuning->lu.columns[0] = 24;
  const auto solved = solve_for(A, B, o);
  expect_solved(solved);
  EXPECT_EQ(solved.report.block_size, 24);
  o.tuning->lu.columns[0] = 0;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve_for(A, B, o); }), "lu_columns_0"));
}

TEST(TuningOfAQueue, is_that_of_its_place_until_it_is_set) {
  Queue<Cpu> q(2);
  EXPECT_EQ(q.tuning(), cpu_tuning().values);
  Tuning t = q.tuning();
  t.work_worth_sharing = 5;
  q.tune(t);
  EXPECT_EQ(q.tuning().work_worth_sharing, 5);
}

/// What an H200, and the CPU, decided when each threshold stood where it was used.
namespace before {

struct Widths {
  std::int64_t panel, step;
};

std::int64_t block_size(Method method, Schedule schedule, Precision precision, std::int64_t n) {
  if (method == Method::cholesky)
    return schedule != Schedule::left_looking ? 2048 : n < 24576 || precision == Precision::fp32 ? 256 : 1536;
  if (schedule == Schedule::left_looking) return n < 12288 ? 1024 : n < 24576 ? 2048 : 4096;
  return n < 3072 ? 128 : n < 12288 ? 768 : n < 24576 ? 1024 : 2048;
}
std::int64_t block_size_on_the_cpu(Method method, Schedule schedule, std::int64_t n) {
  const bool sooner = method == Method::cholesky && schedule != Schedule::left_looking;
  return n < (sooner ? 320 : 512) ? 64 : n < 2048 ? 128 : 192;
}
bool waited_for(std::int64_t left) { return left <= 8192; }
Widths lu_widths(bool fp64, std::int64_t nb, std::int64_t j, std::int64_t n) {
  const std::int64_t widest = fp64 && j == 0 && n > 6144 ? 384 : 768;
  if (waited_for(n - j)) return {std::min<std::int64_t>(nb, widest), std::min<std::int64_t>(nb, 128)};
  const std::int64_t first = (n / 64 + 127) / 128 * 128, panel = std::min(nb, std::max(first, 2 * j));
  return {panel, panel};
}
std::int64_t panel_columns(std::int64_t nb, std::int64_t rest) {
  return std::min(nb, std::max<std::int64_t>(256, rest / 16 / 256 * 256));
}
bool binds(std::int64_t j, std::int64_t n) { return double(j) * double(n - j) > 5e6; }
bool rows_apart(bool fp64, std::int64_t j, std::int64_t n) {
  const bool short_of_time = !fp64 && n - j > 1500 && double(j) * double(n - j) > 3e6;
  return n - j > 32 * (132 + 4) || binds(j, n) || short_of_time;
}
bool near_product(bool fp64, std::int64_t m, std::int64_t n, std::int64_t k, bool apart) {
  const bool few = n <= 256 && k <= 256;
  return fp64 ? few && !apart && m * n * k <= 1 << 24 : few;
}
std::int64_t columns_at_once(std::int64_t nb, std::int64_t j, std::int64_t n) {
  if (nb <= 1024) return nb;
  return std::min(nb, std::max<std::int64_t>(256, std::min(j, (n - j) / 8) / 256 * 256));
}
int blocks_of_a_tile(std::int64_t tiles, int steps, int multiprocessors) {
  const bool few_and_long = tiles * 5 <= multiprocessors && steps >= 128;
  const bool enough = steps >= 64 && tiles <= multiprocessors && tiles * steps >= 60 * multiprocessors;
  if (!few_and_long && !enough) return 1;
  const auto cost = [&](int blocks) {
    const std::int64_t most = (tiles * blocks + multiprocessors - 1) / multiprocessors;
    return (most / 2 * 3 + most % 2 * 2) * (steps + 6 * blocks) / blocks;
  };
  int best = 2;
  for (const int blocks : {4, 8})
    if (steps >= 16 * blocks && cost(blocks) < cost(best)) best = blocks;
  return best;
}

}  // namespace before

const std::int64_t near_thresholds[] = {0,     1,     255,   256,   257,   511,   512,  513,  1023, 1024,
                                        1025,  1499,  1500,  1501,  2047,  2048,  2049, 4095, 4096, 4097,
                                        4352,  4353,  6144,  6145,  7168,  7169,  8191, 8192, 8193, 9216,
                                        12287, 12288, 12289, 24575, 24576, 24577, 65536};

class AsBefore : public testing::Test {
 protected:
  const Tuning t = tuning_for(h200()).values, cpu = cpu_tuning().values;
};

TEST_F(AsBefore, block_sizes_and_schedules) {
  EXPECT_EQ(Cholesky::record.default_schedule(t, false), Schedule::left_looking);
  EXPECT_EQ(Cholesky::record.default_schedule(t, true), Schedule::right_looking) << "its products are quick";
  EXPECT_EQ(Lu::record.default_schedule(t, false), Schedule::right_looking);
  for (const Method method : {Method::lu, Method::cholesky}) {
    EXPECT_EQ(record_of(method).default_schedule(cpu, false), Schedule::right_looking);
    for (const Schedule schedule : {Schedule::right_looking, Schedule::left_looking, Schedule::recursive})
      for (const Precision precision : {Precision::fp64, Precision::fp32})
        for (std::int64_t n = 0; n <= 70000; ++n) {
          const Sized of{.schedule = schedule, .storage = precision, .n = n};
          const std::int64_t all = std::max<std::int64_t>(1, n);
          ASSERT_EQ(record_of(method).widths(t, of).panel,
                    std::min(all, before::block_size(method, schedule, precision, n)))
              << n;
          ASSERT_EQ(record_of(method).widths(cpu, of).panel,
                    std::min(all, before::block_size_on_the_cpu(method, schedule, n)))
              << n;
        }
  }
}

TEST_F(AsBefore, widths_of_LU) {
  for (std::int64_t n = 1; n <= 70000; n += n < 10000 ? 7 : 61)
    for (const bool fp64 : {true, false}) {
      const Precision storage = fp64 ? Precision::fp64 : Precision::fp32;
      const std::int64_t nb = before::block_size(Method::lu, Schedule::right_looking, storage, n);
      Sized of{.schedule = Schedule::right_looking, .storage = storage, .n = n, .queues = true};
      const Blocking now{.n = n, .widths = Lu::record.widths(t, of), .lanes = four_lanes};
      of.columns = nb, of.queues = false;
      const Blocking host{.n = n, .widths = Lu::record.widths(cpu, of)};
      ASSERT_EQ(now.widths.bottleneck.soon_from, 128);
      for (std::int64_t j = 0; j < n; j += j == 0 ? 1 : 127) {
        const auto then = before::lu_widths(fp64, nb, j, n);
        const Range panel = now.panel_at(j), step = now.step_at(j, panel);
        ASSERT_EQ(panel.count(), std::min(then.panel, n - j)) << n << ", " << j;
        ASSERT_EQ(step.count(), std::min(then.step, panel.count())) << n << ", " << j;
        ASSERT_EQ(now.panels_bind(n - j), before::waited_for(n - j));
        ASSERT_EQ(host.panel_at(j).count(), std::min(nb, n - j)) << n << ", " << j;
        ASSERT_EQ(host.step_at(j, host.panel_at(j)), host.panel_at(j)) << n << ", " << j;
      }
    }
  for (std::int64_t n = 0; n <= 70000; ++n) {
    ASSERT_EQ(interchanges_L_at_the_end(t, n, true), n > 4096);
    ASSERT_EQ(lu_far_columns(t, Precision::fp64, n, n > 4096), n > 7168 ? 2048 : 0);
    ASSERT_EQ(lu_far_columns(t, Precision::fp32, n, n > 4096), 0);
  }
}

TEST_F(AsBefore, how_Cholesky_walks) {
  for (std::int64_t n = 1; n <= 70000; n += n < 10000 ? 13 : 101) {
    for (std::int64_t j = 0; j < n; j += 128) {
      ASSERT_EQ(cholesky_limits(t, Precision::fp64, 132).products_bind(j, n), before::binds(j, n)) << n << ", " << j;
      for (const std::int64_t columns : {256, 1024, 1025, 1536}) {
        const std::int64_t nb = std::min(n, columns), left = n - j;
        const auto count = [&](Schedule schedule) {
          const Sized of{.schedule = schedule, .storage = Precision::fp64, .n = n, .columns = nb, .queues = true};
          return Blocking{.n = n, .widths = Cholesky::record.widths(t, of)}.panel_at(j).count();
        };
        ASSERT_EQ(count(Schedule::left_looking), std::min(left, before::columns_at_once(nb, j, n))) << n << ", " << j;
        ASSERT_EQ(count(Schedule::right_looking), std::min(left, before::panel_columns(nb, left))) << n << ", " << j;
      }
      for (const bool fp64 : {true, false})
        ASSERT_EQ(cholesky_limits(t, fp64 ? Precision::fp64 : Precision::fp32, 132).rows_go_apart(j, n),
                  before::rows_apart(fp64, j, n))
            << n << ", " << j;
    }
  }
  EXPECT_EQ(t.cholesky_diagonal_update, 256);
  EXPECT_EQ(cpu.cholesky_diagonal_update, 256);
  for (const std::int64_t m : near_thresholds)
    for (const std::int64_t n : near_thresholds)
      for (const std::int64_t k : near_thresholds)
        for (const bool fp64 : {true, false})
          for (const bool apart : {true, false})
            ASSERT_EQ(is_narrow_update(t, fp64 ? Precision::fp64 : Precision::fp32, 2, m, n, k, apart),
                      before::near_product(fp64, m, n, k, apart));
  EXPECT_FALSE(is_narrow_update(t, Precision::fp32, 64, 10, 10, 10, false));
}

TEST_F(AsBefore, tiles_of_tensor) {
  for (std::int64_t k = 0; k <= 70000; ++k) {
    ASSERT_EQ(group_rows_for(t, k), k <= 512 ? 128u : k <= 2048 ? 32u : 16u);
    ASSERT_EQ(k >= t[tensor_multicast_from], k >= 4096);
    for (const auto& [broad, narrow] : {std::pair(11, 10), {12, 10}, {109, 100}, {111, 100}})
      ASSERT_EQ(takes_wide_tiles(t, k, broad, narrow), k > 256 && 10 * broad <= 11 * narrow);
  }
  for (std::int64_t m = 1; m <= 20000; m += 97)
    for (std::int64_t n = 1; n <= 20000; n += 131)
      for (const int steps : {1, 4, 16, 63, 64, 65, 127, 128, 255, 256, 512, 4096}) {
        const auto tiles = [&](int BM, int BN) { return ceil_div(m, BM) * ceil_div(n, BN); };
        ASSERT_EQ(blocks_of_a_tile(t, tiles(64, 128), steps, 132),
                  before::blocks_of_a_tile(tiles(64, 128), steps, 132));
        const bool large = steps >= 64 && tiles(128, 128) >= 4 * 132;
        ASSERT_EQ(fp64_tiles(t, tiles, steps, 132), tiles(32, 32) <= 2 * 132              ? Fp64Tiles::tiny
                                                    : tiles(64, 64) * 2 <= 3 * 132        ? Fp64Tiles::narrow
                                                    : large                               ? Fp64Tiles::large
                                                    : tiles(64, 128) * steps >= 256 * 132 ? Fp64Tiles::wide
                                                                                          : Fp64Tiles::small);
      }
}

TEST_F(AsBefore, products_of_cublas) {
  for (const std::int64_t m : near_thresholds)
    for (const std::int64_t n : near_thresholds)
      for (const std::int64_t k : near_thresholds) {
        const double work = double(m) * double(n) * double(k);
        const std::int64_t even = m - m % 2;
        ASSERT_EQ(cuts_off_last_row(t, m, n, k), 0 < even && even < m && work >= 4e9);
        ASSERT_EQ(turns_B(t, m, n, k), m >= 4096 && n >= 1024 && k >= 512 && k <= 8192);
        const bool narrow = n % 128 == 0 && n >= 256 && n <= 512 && m >= 256 && k >= 256 && work >= 2e8;
        ASSERT_EQ(narrow_product_for(t, m, n, k), !narrow                 ? NarrowProduct::as_it_chooses
                                                  : work < 1.2e9          ? NarrowProduct::in_parts
                                                  : m >= 1024 && k >= 512 ? NarrowProduct::with_split_k
                                                                          : NarrowProduct::as_it_chooses);
      }
}

TEST_F(AsBefore, the_rest) {
  EXPECT_EQ(t.solve_few_rhs, 8);
  EXPECT_EQ(t.solve_sync_free_rhs, 128);
  EXPECT_EQ(t.solve_halves_from, 257);
  EXPECT_EQ(t.lookahead_64_rows_from, 2049);
  EXPECT_EQ(t.lookahead_128_rows_from, 4097);
  EXPECT_EQ(t.arriving_bytes, 64 << 20);
  EXPECT_EQ(t.waited_copy_bytes, 8 << 20);
  EXPECT_EQ(cpu.waited_copy_bytes, 0);
  EXPECT_EQ(t.work_worth_sharing, 1 << 18);
  EXPECT_EQ(cpu.work_worth_sharing, 1 << 18);
  EXPECT_EQ(cpu.solve_few_rhs, 7);
  EXPECT_EQ(cpu.solve_order, 64);
  EXPECT_EQ(cpu.lu_leaf, 8);
  EXPECT_EQ(cpu.cholesky_leaf, 64);
  EXPECT_EQ(t.small_system_order, 128);
  EXPECT_EQ(t.small_cholesky_order, 64);
  EXPECT_EQ(t.cholesky_tried_order, 256);
  EXPECT_EQ(cpu.cholesky_tried_order, 0);
  EXPECT_EQ(t.one_kernel_checks_order, 1024);
}

}  // namespace
}  // namespace lasolve::test
