// What `lasolve compare` makes of measured rows: JSON and back.
#include <gtest/gtest.h>

#include <map>

#include "compare/attribution.hpp"
#include "compare/record.hpp"
#include "compare/tables.hpp"
#include "compare/verdict.hpp"
#include "io/input_error.hpp"
#include "made_up_rows.hpp"

namespace lasolve::compare {
namespace {

TEST(Record, of_a_row_has_its_options_and_finds_it_again_by_them) {
  const Comparison all = by_recipes();
  Json json = as_json(all, nullptr);
  EXPECT_EQ(json["rows"][3]["options"], (Json{{"factorization", "lu"}, {"schedule", "crout"}}));
  EXPECT_EQ(json["rows"][3]["name"], "fast (crout)");
  EXPECT_EQ(json["pairs"][0]["row"]["name"], "fast (right-looking)");
  const Comparison back = comparison_of(json.dump(), "x.json");
  for (std::size_t r = 0; r < all.rows.size(); ++r) EXPECT_EQ(back.find(all.rows[r].key), &back.rows[r]);
  EXPECT_FALSE(comparison().find(all.rows[0].key));
  EXPECT_EQ(why_no_verdict(comparison(), all, all.rows[2].key), "not in it, but slow in fp64");

  for (Json& row : json["rows"]) row.erase("options"), row.erase("name");  // one recipe for all: an older file
  json["compare"].update({{"factorization", "auto"}, {"schedule", "crout"}, {"block_size", 64}});
  const Comparison older = comparison_of(json.dump(), "x.json");
  EXPECT_EQ(older.rows[0].key.options,
            (std::map<std::string, std::string>{{"block-size", "64"}, {"schedule", "crout"}}));
  EXPECT_TRUE(older.rows[4].key.options.empty()) << "of a baseline solver only the method";
  json["compare"].update({{"schedule", "auto"}, {"block_size", 0}});
  EXPECT_TRUE(comparison_of(json.dump(), "x.json").rows[0].key.options.empty());
}

TEST(Record, has_every_pair_of_a_size_and_the_errors_of_solutions) {
  Comparison all = comparison();
  all.rows[2].componentwise_error = 1e-9, all.rows[2].forward_error = 2e-7, all.rows[2].warnings = {"w"};
  all.rows[2].processor_seconds = all.rows[2].seconds;
  const Json json = as_json(all, nullptr);
  ASSERT_EQ(json["pairs"].size(), 2u);
  EXPECT_EQ(json["pairs"][1]["row"]["gemm"], "fast");
  EXPECT_EQ(json["pairs"][1]["beside"]["gemm"], "slow");
  EXPECT_EQ(json["pairs"][1]["change"]["verdict"], "faster");
  EXPECT_EQ(json["rows"][3]["against_first"], json["pairs"][1]["change"]);
  const Comparison back = comparison_of(json.dump(), "x.json");
  EXPECT_EQ(back.rows[2].componentwise_error, 1e-9);
  EXPECT_EQ(back.rows[2].forward_error, 2e-7);
  EXPECT_EQ(back.rows[2].warnings, all.rows[2].warnings);
  EXPECT_EQ(back.rows[2].processor_seconds, all.rows[2].processor_seconds);
  EXPECT_NE(as_csv(all).find(",1e-09,2e-07,\"w\""), std::string::npos) << as_csv(all);
}

TEST(Record, of_the_release_before_has_other_words) {
  Comparison all = comparison();
  all.rows[3].is_baseline_solver = true;
  all.rows[2].key.gemm = all.rows[3].key.gemm = "eigen (peer)";
  all.rows[2].failure = "it is wrong", all.rows[2].failure_kind = "trial";
  const Comparison back = comparison_of(as_json(all, Json()).dump(), "x.json");
  EXPECT_EQ(back.rows[2].key.gemm, "eigen (peer)");
  EXPECT_EQ(back.rows[3].key.gemm, "eigen (solver)");
  EXPECT_EQ(back.rows[2].failure_kind, Row::in_validation);
}

TEST(Record, comes_back_as_it_went) {
  Comparison all = comparison();
  all.rows[1].failure = "it is \"wrong\"";
  all.rows[1].seconds.clear();
  all.rows[3].is_baseline_solver = true;
  all.rows[3].notes = {"one\ntwo"};
  all.rows[0].visits = {4, 6};
  all.sizes[1].yardstick = {{0.5, 0.25}, {1, 2}, {3, 4}};
  all.sizes[0].clocks = {1600, 1980};
  all.rows[2].slowed = 0.25;
  all.limits = {{"cpu", "fp64", {1e9, 2e9}}};
  all.date = "2026-01-02T03:04:05Z", all.command = "lasolve compare";
  all.rows[2].adapter = "5 % is the adapter's: padding", all.rows[2].adapter_work = "padding",
  all.rows[2].adapter_share = 0.05;
  const Json environment = {{"processor", "P"}};
  const std::string text = as_json(all, environment).dump();
  const Comparison back = comparison_of(text, "x.json");
  EXPECT_EQ(back.setting, all.setting);
  EXPECT_EQ(back.date, all.date);
  EXPECT_EQ(back.command, all.command);
  ASSERT_EQ(back.rows.size(), 4u);
  EXPECT_EQ(back.rows[0].recipe, "lu, by plan");
  EXPECT_EQ(back.sizes[1].hash, "ff00");
  EXPECT_EQ(back.sizes[1].yardstick.alone, all.sizes[1].yardstick.alone);
  EXPECT_EQ(back.sizes[1].yardstick.on_all_threads, all.sizes[1].yardstick.on_all_threads);
  EXPECT_EQ(back.sizes[1].yardstick.launches, all.sizes[1].yardstick.launches);
  EXPECT_EQ(back.sizes[0].clocks, all.sizes[0].clocks);
  EXPECT_EQ(back.sizes[1].clocks, bench::Clocks());
  ASSERT_EQ(back.limits.size(), 1u);
  EXPECT_EQ(back.limits[0].precision, "fp64");
  EXPECT_EQ(back.limits[0].roof.bytes_per_second, 2e9);
  EXPECT_EQ(environment_in(text), environment);
  for (std::size_t i = 0; i < 4; ++i) {
    const Row &a = all.rows[i], &b = back.rows[i];
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.seconds, b.seconds);
    EXPECT_EQ(a.gemm_seconds_of_runs, b.gemm_seconds_of_runs);
    EXPECT_EQ(a.visits, b.visits);
    EXPECT_EQ(a.failure, b.failure);
    EXPECT_EQ(a.is_baseline_solver, b.is_baseline_solver);
    EXPECT_EQ(a.notes, b.notes);
    EXPECT_EQ(a.slowed, b.slowed);
    EXPECT_EQ(a.adapter, b.adapter);
    EXPECT_EQ(a.adapter_work, b.adapter_work);
    EXPECT_EQ(a.adapter_share, b.adapter_share);
    EXPECT_EQ(a.backward_error, b.backward_error);
    if (!a.timed() || a.is_baseline_solver) continue;
    EXPECT_EQ(a.total_seconds, b.total_seconds);
    EXPECT_EQ(a.phases.seconds, b.phases.seconds);
    EXPECT_EQ(a.phases.flops, b.phases.flops);
    ASSERT_EQ(b.tasks.size(), 3u);
    EXPECT_EQ(b.tasks[1].k, 64);
    EXPECT_EQ(b.tasks[1].block, a.tasks[1].block);
    EXPECT_FALSE(is_update(b.tasks[0]));
  }
}

TEST(Record, has_times_with_copies_where_there_are_any) {
  Comparison all = comparison();
  all.setting.copies = true;
  all.rows[1].seconds_from_host = {3, 1, 2};
  Json json = as_json(all, nullptr);
  EXPECT_EQ(json["rows"][1]["median_seconds_from_host"], 2);
  EXPECT_TRUE(json["rows"][0]["median_seconds_from_host"].is_null());
  EXPECT_TRUE(json["beside"].is_null());
  const Comparison back = comparison_of(json.dump(), "x.json");
  EXPECT_EQ(back.setting, all.setting);
  EXPECT_EQ(back.rows[1].seconds_from_host, all.rows[1].seconds_from_host) << "in the order of the runs";
  EXPECT_TRUE(back.rows[0].seconds_from_host.empty());
  json["compare"].erase("copies");
  for (Json& row : json["rows"]) row.erase("seconds_from_host");
  const Comparison older = comparison_of(json.dump(), "x.json");
  EXPECT_FALSE(older.setting.copies);
  EXPECT_TRUE(older.rows[1].seconds_from_host.empty());
}

TEST(Record, keeps_what_is_drawn_beside_it) {
  Comparison other = comparison();
  for (Row& r : other.rows) r.key.device = "cuda:0";
  other.rows[3].seconds_from_host = {5};
  const Json beside = drawn_beside(other, {{"processor", "P"}});
  const Json json = as_json(comparison(), nullptr, beside);
  ASSERT_EQ(json["rows"].size(), 4u) << "they are not its own rows";
  ASSERT_EQ(json["beside"]["rows"].size(), 4u);
  EXPECT_EQ(json["beside"]["rows"][3]["device"], "cuda:0");
  EXPECT_EQ(json["beside"]["rows"][3]["seconds_of_runs"], Json(other.rows[3].seconds));
  EXPECT_EQ(json["beside"]["rows"][3]["median_seconds_from_host"], 5);
  EXPECT_TRUE(json["beside"]["rows"][3]["attribution"].is_null()) << "tasks are many";
  EXPECT_TRUE(json["beside"]["tasks_were_timed"]);
  EXPECT_EQ(json["beside"]["environment"]["processor"], "P");
  EXPECT_EQ(comparison_of(json.dump(), "x.json").rows.size(), 4u);
}

TEST(Record, of_a_verdict_has_what_the_machine_did) {
  Comparison all = comparison();
  all.rows[0].against_baseline = bench::Change{bench::Change::slower, 0.031, 0.025, 0.038, 0.02, 0.012};
  EXPECT_EQ(as_json(all, nullptr)["rows"][0]["against_baseline"]["machine"], 0.012);
}

TEST(Record, of_an_older_version_says_nothing_of_clocks_and_launches) {
  Comparison all = comparison();
  all.sizes[0].clocks = {1600, 1980}, all.rows[2].slowed = 0.25;
  Json older = as_json(all, nullptr);
  for (Json& size : older["sizes"]) size.erase("sm_clocks_mhz"), size["yardstick_seconds"].erase("launches");
  for (Json& row : older["rows"]) row.erase("slowed");
  const Comparison back = comparison_of(older.dump(), "x.json");
  EXPECT_EQ(back.sizes[0].clocks, bench::Clocks());
  EXPECT_TRUE(back.sizes[0].yardstick.launches.empty());
  EXPECT_FALSE(back.rows[2].slowed);
}

TEST(Record, refuses_what_is_none) {
  for (const char* text : {"", "{", "[]", "{}", "{\"schema_version\": 1}", "{\"schema_version\": 1, \"compare\": {}}",
                           "{\"schema_version\": 99, \"compare\": {}}", "{\"schema_version\": 1, \"compare\": 3}"})
    EXPECT_THROW(comparison_of(text, "x.json"), io::InputError) << text;
  Json cut = as_json(comparison(), nullptr);
  cut["rows"][2].erase("seconds_of_runs");
  EXPECT_THROW(comparison_of(cut.dump(), "x.json"), io::InputError);
  Json wrong = as_json(comparison(), nullptr);
  wrong["rows"][2]["runs_of_visits"] = {1, 2};
  EXPECT_THROW(comparison_of(wrong.dump(), "x.json"), io::InputError);
  wrong["rows"][2]["runs_of_visits"] = {11, -1};
  EXPECT_THROW(comparison_of(wrong.dump(), "x.json"), io::InputError);
}

}  // namespace
}  // namespace lasolve::compare
