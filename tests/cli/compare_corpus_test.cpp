// Comparisons of real runs, where they are at hand.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "trace/corpus.h"

namespace fathom::cli::compare_corpus_test {

// The path that ends so; empty without a corpus.
std::string corpus(const std::string& folder, const std::string& ending) {
  for (const std::string& file : trace::corpus_files(folder)) {
    if (file.ends_with(ending)) return file;
  }
  return {};
}

nlohmann::json compare(const std::string& before, const std::string& now) {
  const Outcome outcome = run_program({"compare", before, "--with", now, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(CompareCorpus, WorkersOfADataLoaderChangeTheDataLoading) {
  const std::string before = corpus("kineto", "v100_resnet50_workers0.json.gz");
  const std::string now = corpus("kineto", "v100_resnet50_workers4.json.gz");
  if (before.empty()) GTEST_SKIP() << "no corpus";
  const nlohmann::json json = compare(before, now);
  const std::string text = json["summary"]["text"];
  EXPECT_NE(text.find("enumerate(DataLoader), the data loading"), std::string::npos) << text;
  EXPECT_EQ(json["summary"]["improvements"][0], "enumerate(DataLoader)");
  EXPECT_GT(json["summary"]["matched_percent"], 90);
}

TEST(CompareCorpus, OneModelOnTwoVendorsAlignsByStructure) {
  const std::string before = corpus("kineto", "h100_bert_small.json.gz");
  const std::string now = corpus("kineto", "mi300_bert_small.json.gz");
  if (before.empty()) GTEST_SKIP() << "no corpus";
  const nlohmann::json json = compare(before, now);
  EXPECT_GE(json["summary"]["matched_percent"], 80);
  bool is_by_launcher = false;
  for (const auto& row : json["operations"]) is_by_launcher |= row["matched_by"] == "launcher";
  EXPECT_TRUE(is_by_launcher);
}

struct KernelFigures {
  double calls = 0;
  double ms = 0;
};

// All kernels of an Nsight Systems export, by name, asked of the database itself.
std::map<std::string, KernelFigures> kernels_of(const std::string& path) {
  constexpr const char* kQuery =
      "SELECT s.value, COUNT(*), SUM(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
      "JOIN StringIds s ON s.id = k.demangledName GROUP BY s.value";
  std::map<std::string, KernelFigures> kernels;
  sqlite3* database = nullptr;
  sqlite3_stmt* rows = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(database, kQuery, -1, &rows, nullptr), SQLITE_OK);
  while (sqlite3_step(rows) == SQLITE_ROW) {
    const char* name = reinterpret_cast<const char*>(sqlite3_column_text(rows, 0));
    kernels[name] = {sqlite3_column_double(rows, 1), sqlite3_column_double(rows, 2) / 1e6};
  }
  sqlite3_finalize(rows);
  sqlite3_close(database);
  return kernels;
}

// The names of the five kernels whose time differs most.
std::vector<std::string> top_differences(const std::map<std::string, double>& by_name) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, ms] : by_name) sorted.emplace_back(-std::abs(ms), name);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, sorted.size()); ++i) {
    names.push_back(sorted[i].second);
  }
  return names;
}

TEST(CompareCorpus, DifferencesOfNsysExportsAreThoseOfTheirDatabases) {
  const std::string before = corpus("nsys", "before.sqlite");
  const std::string now = corpus("nsys", "after.sqlite");
  if (before.empty()) GTEST_SKIP() << "no corpus";
  std::map<std::string, KernelFigures> base = kernels_of(before);
  std::map<std::string, KernelFigures> current = kernels_of(now);
  std::map<std::string, double> expected;
  for (const auto& [name, figures] : base) expected[name] -= figures.ms;
  for (const auto& [name, figures] : current) expected[name] += figures.ms;

  // All parts of a kernel that was taken apart.
  std::map<std::string, KernelFigures> our_base;
  std::map<std::string, KernelFigures> our_current;
  const nlohmann::json json = compare(before, now);
  for (const auto& row : json["operations"]) {
    if (row["kind"] != "kernel" || row["matched_by"] != "name") continue;
    const std::string name = row["operation"];
    our_base[name].ms += row["baseline_total_ms"].get<double>();
    our_base[name].calls += row["baseline_calls"].get<double>();
    our_current[name].ms += row["current_total_ms"].get<double>();
    our_current[name].calls += row["current_calls"].get<double>();
  }
  EXPECT_GT(our_base.size(), 10U);
  std::map<std::string, double> ours;
  // Parts below 0.01 % of the time are left out, at most three of an operation.
  double all_ms = 0;
  for (const auto& row : json["operations"]) all_ms += row["baseline_self_ms"].get<double>();
  const double left_out_ms = 3e-4 * all_ms;
  for (const auto& [name, figures] : our_base) {
    EXPECT_NEAR(figures.ms, base[name].ms, left_out_ms) << name;
    EXPECT_NEAR(our_current[name].ms, current[name].ms, left_out_ms) << name;
    EXPECT_LE(figures.calls, base[name].calls) << name;
    EXPECT_LE(our_current[name].calls, current[name].calls) << name;
    ours[name] = our_current[name].ms - figures.ms;
  }
  EXPECT_EQ(top_differences(ours), top_differences(expected));
}

}  // namespace fathom::cli::compare_corpus_test
