#include "report/ranks_report.h"

#include <gtest/gtest.h>

#include "report/recommendations.h"

namespace fathom::report::ranks_report_test {

analyze::RankReport report() {
  analyze::RankReport report;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    analyze::RankRow row;
    row.rank = rank;
    row.clock = {rank * -1'500, rank * 200, static_cast<std::uint64_t>(rank) * 10};
    row.compute_ns = 4'000'000 + rank * 1'000'000;
    row.communication_ns = 2'000'000;
    row.collectives = row.shared = 10;
    row.waited_ns = (1 - rank) * 900'000;
    row.times_last = rank == 1 ? 9 : 0;
    row.late_ns = rank * 900'000;
    row.causes[0] = row.times_last;
    report.rows.push_back(row);
  }
  report.operations = {{"AllReduce", "0", 10, 1'000'000, 300'000, 500'000}};
  report.collectives = {{0, 2, 5, 100'000, 50'000, 1, 100'000, analyze::LateCause::compute},
                        {0, 2, 9, 1'000, 50'000, {}, 0, analyze::LateCause::unknown}};
  report.stragglers = {1};
  report.world_size = 4;
  report.missing = {2, 3};
  report.compute_imbalance_pct = 11.1;
  return report;
}

TEST(RanksText, NamesWhoComesLateAndWhy) {
  EXPECT_EQ(to_text(report(), 10, 100), R"(
  Rank 1 arrives last at 9 of 10 shared collectives and costs the others 900.0 µs in total, because it computes longer.

  rank    compute  communication    waited  last      late    clock       ±
  rank 0   4.0 ms         2.0 ms  900.0 µs     0      0 ns     0 ns       –
  rank 1   5.0 ms         2.0 ms      0 ns     9  900.0 µs  −1.5 µs  200 ns

  collective           count  spread of arrivals     worst  exchange
  AllReduce (group 0)     10            100.0 µs  300.0 µs   50.0 µs

  The slowest rank computes 11.1 % longer than the mean.
  Traces of 2 of the 4 ranks were given.
)");
}

TEST(RanksText, OfOneRankIsNothing) {
  analyze::RankReport one = report();
  one.rows.resize(1);
  EXPECT_EQ(to_text(one, 10, 100), "");
}

TEST(RanksText, SaysWhereNothingIsShared) {
  analyze::RankReport strangers = report();
  strangers.collectives.clear();
  EXPECT_NE(to_text(strangers, 10, 100).find("share no collective"), std::string::npos);
}

TEST(RanksJson, LeavesOutWhoWasLateWhereNobodyWas) {
  std::string out;
  base::JsonWriter json(out);
  write_json(json, report());
  EXPECT_NE(out.find(R"("collectives":[{"operation":"AllReduce","members":2,"start_ns":5,)"
                     R"("spread_ns":100000,"exchange_ns":50000,"last":1,"late_ns":100000,)"
                     R"("cause":"compute"},{"operation":"AllReduce","members":2,"start_ns":9,)"
                     R"("spread_ns":1000,"exchange_ns":50000,"last":null}])"),
            std::string::npos)
      << out;
}

// Whoever reads about several ranks has run hta on them.
TEST(RanksReport, AdviceForSeveralRanksDoesNotSendToWhereTheReaderIs) {
  advise::Suggestion one;
  one.title = "Find the rank";
  one.implementation_hint = "Its exchanges are the shortest. To find it: fathom hta on all ranks.";
  advise::Suggestions rank;
  rank.list = {one};
  const std::vector<advise::Suggestions> ranks = {rank, rank};
  EXPECT_EQ(recommend(ranks).front().hint, "Its exchanges are the shortest.");
  EXPECT_EQ(recommend(std::span(ranks).first(1)).front().hint, one.implementation_hint);
}

}  // namespace fathom::report::ranks_report_test
