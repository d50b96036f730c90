#include "compare/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fathom::compare::parts_test {

using ::testing::ElementsAre;

CallSite site(const std::string& shape, const std::string& path, std::vector<std::int64_t> ns) {
  CallSite made;
  made.shape = shape;
  made.path = std::make_shared<const std::string>(path);
  for (const std::int64_t one : ns) made.total_ns += one;
  made.self_ns = made.total_ns;
  made.ns = std::move(ns);
  return made;
}

// Its calls are of steps, so many each.
CallSite stepped(CallSite made, std::size_t calls) {
  for (std::size_t i = 0; i < made.ns.size(); i += calls) {
    made.steps.push_back({static_cast<std::uint32_t>(i / calls), static_cast<std::uint32_t>(i)});
  }
  return made;
}

RunOperation operation(std::vector<CallSite> sites) {
  RunOperation made;
  for (const CallSite& one : sites) made.self_ns += one.self_ns;
  made.sites = std::move(sites);
  return made;
}

// Of runs in which nothing else takes time.
std::vector<OperationPart> parts(const RunOperation& base, const RunOperation& current) {
  return take_apart({&base}, {&current}, static_cast<double>(base.self_ns),
                    static_cast<double>(current.self_ns));
}

std::vector<std::string> words_of(const std::vector<OperationPart>& parts) {
  std::vector<std::string> words;
  for (const OperationPart& part : parts) words.push_back(part.which.words);
  return words;
}

TEST(Parts, CallsOfDifferentShapesAndTimesAreApart) {
  const RunOperation run = operation({site("2x2", "", {100, 101}), site("8x8", "", {900, 905})});
  const std::vector<OperationPart> found = parts(run, run);
  EXPECT_THAT(words_of(found), ElementsAre("2x2", "8x8"));
  EXPECT_THAT(found[0].base.front().ns, ElementsAre(100, 101));
  EXPECT_THAT(found[1].current.front().ns, ElementsAre(900, 905));
}

TEST(Parts, CallsThatAreAlikeStayTogether) {
  const RunOperation run = operation({site("2x2", "a", {100, 101}), site("2x3", "b", {105, 99})});
  const std::vector<OperationPart> found = parts(run, run);
  EXPECT_THAT(words_of(found), ElementsAre(""));
  EXPECT_THAT(found[0].base.front().ns, ElementsAre(100, 101, 105, 99));
  EXPECT_EQ(found[0].base.front().self_ns, 405);
}

TEST(Parts, PathsAreAsShortAsTellsThemApart) {
  const RunOperation short_ones =
      operation({site("", "net › conv", {100}), site("", "net › norm", {300})});
  EXPECT_THAT(words_of(parts(short_ones, short_ones)), ElementsAre("in conv", "in norm"));
  const RunOperation long_ones =
      operation({site("", "forward › conv", {100}), site("", "backward › conv", {300})});
  EXPECT_THAT(words_of(parts(long_ones, long_ones)),
              ElementsAre("in backward › conv", "in forward › conv"));
}

TEST(Parts, WhatIsSmallOrNotInAllRunsIsTheRest) {
  const CallSite two = site("2x2", "", {10'000});
  const CallSite eight = site("8x8", "", {90'000});
  const RunOperation with_four =
      operation({two, eight, site("1x1", "", {3}), site("4x4", "", {20'000})});
  const RunOperation without = operation({two, eight, site("1x1", "", {3})});
  const auto whole = static_cast<double>(2 * without.self_ns);
  const std::vector<OperationPart> found =
      take_apart({&with_four, &without}, {&without, &without}, whole, whole);
  EXPECT_THAT(words_of(found), ElementsAre("2x2", "8x8", "4x4", "other shapes"));
  const std::vector<OperationPart> mixed =
      take_apart({&with_four, &without}, {&without, &with_four}, whole, whole);
  EXPECT_THAT(words_of(mixed), ElementsAre("2x2", "8x8", "other shapes"));
  EXPECT_EQ(mixed[2].base[0].self_ns, 20'003);
  EXPECT_EQ(mixed[2].base[1].self_ns, 3);
}

TEST(Parts, AShapeThatOnlyOneSideHasIsNamed) {
  const RunOperation base = operation({site("2x2", "", {10'000})});
  const RunOperation current = operation({site("2x2", "", {10'000}), site("8x8", "", {90'000})});
  const std::vector<OperationPart> found = parts(base, current);
  EXPECT_THAT(words_of(found), ElementsAre("2x2", "8x8"));
  EXPECT_TRUE(found[1].base.front().ns.empty());
}

TEST(Parts, PathsOfOneShapeThatAreAlikeStayTogether) {
  const RunOperation base =
      operation({site("2x2", "a", {100}), site("2x2", "b", {101}), site("8x8", "a", {900})});
  const RunOperation current =
      operation({site("2x2", "loop › a", {100, 102}), site("8x8", "loop › a", {800})});
  const std::vector<OperationPart> found = parts(base, current);
  EXPECT_THAT(words_of(found), ElementsAre("2x2", "8x8"));
  EXPECT_THAT(found[0].base.front().ns, ElementsAre(100, 101));
  EXPECT_EQ(found[0].which.path, "");
  EXPECT_EQ(found[1].which.shape, "8x8");
}

TEST(Parts, WhereNoShapeIsCommonTheNameDecidesAndItIsSaid) {
  const std::vector<OperationPart> found =
      parts(operation({site("2x2", "", {100}), site("3x3", "", {500})}),
            operation({site("4x4", "", {200})}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].which.words, "");
  EXPECT_EQ(found[0].which.base_shape, "3x3");
  EXPECT_EQ(found[0].which.current_shape, "4x4");
}

TEST(Parts, CallsOfAStepThatDifferAreApart) {
  const RunOperation base = operation({stepped(site("", "", {100, 500, 102, 505, 99, 498}), 2)});
  const RunOperation current = operation({stepped(site("", "", {101, 700, 100, 705}), 2)});
  const std::vector<OperationPart> found = parts(base, current);
  EXPECT_THAT(words_of(found), ElementsAre("call 1 of 2 in a step", "call 2 of 2 in a step"));
  EXPECT_THAT(found[1].base.front().ns, ElementsAre(500, 505, 498));
  EXPECT_THAT(found[1].current.front().ns, ElementsAre(700, 705));
}

TEST(Parts, OrderSaysNothingWhereStepsDiffer) {
  const RunOperation regular = operation({stepped(site("", "", {100, 500, 102, 505}), 2)});
  const RunOperation more = operation({stepped(site("", "", {100, 500, 102, 505, 99, 498}), 3)});
  EXPECT_EQ(parts(regular, more).size(), 1U);
  // Levels that change at random, not with the place.
  const RunOperation random =
      operation({stepped(site("", "", {100, 500, 500, 100, 100, 500, 500, 100}), 2)});
  EXPECT_EQ(parts(random, random).size(), 1U);
}

TEST(Parts, ManySmallShapesOnTwoLevelsAreApart) {
  std::vector<CallSite> sites;
  for (int i = 0; i < 40; ++i) {
    sites.push_back(site(std::to_string(i), "", {i % 2 == 0 ? 100 : 300}));
  }
  const RunOperation run = operation(std::move(sites));
  EXPECT_EQ(parts(run, run).size(), 40U);
}

TEST(Parts, CallsOfAStepThatSwappedAreNotApart) {
  const RunOperation base = operation({stepped(site("", "", {100, 500, 101, 499}), 2)});
  const RunOperation current = operation({stepped(site("", "", {500, 100, 502, 99}), 2)});
  EXPECT_EQ(parts(base, current).size(), 1U);
}

TEST(Parts, OnePartAndTheRestAreBothNamed) {
  const RunOperation run = operation(
      {site("8x8", "", {90'000}), site("1x1", "", {5, 5, 5, 5, 5}), site("1x2", "", {6, 6, 6})});
  EXPECT_THAT(words_of(parts(run, run)), ElementsAre("8x8", "other shapes"));
}

// Parts and rests of every level at once: no two may have the same words.
TEST(Parts, WordsTellAllPartsApart) {
  const RunOperation run =
      operation({site("8x8", "p", {90'000}), site("1x1", "p", {5}), site("1x2", "q", {6}),
                 site("", "p", {20'000}), site("", "q", {40'000}), site("", "a › q", {70'000}),
                 site("", "r", {7}), site("", "s", {8}),
                 stepped(site("3x3", "", {3'000, 9'000, 4, 3'000, 9'000, 4}), 3)});
  const std::vector<std::string> words = words_of(parts(run, run));
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
  EXPECT_THAT(words, ::testing::Contains("of unknown shape · in p"));
  EXPECT_THAT(words, ::testing::Contains("of unknown shape · in other operations"));
  EXPECT_THAT(words, ::testing::Contains("3x3 · call 2 of 3 in a step"));
  EXPECT_THAT(words, ::testing::Contains("3x3 · other calls of a step"));
  EXPECT_THAT(words, ::testing::Contains("other shapes"));
}

TEST(Parts, OtherShapesAreNamedForEachPart) {
  const std::vector<OperationPart> found =
      parts(operation({site("2x2", "p", {100}), site("3x3", "q", {500})}),
            operation({site("4x4", "p", {110}), site("5x5", "q", {520})}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].which.base_shape, "2x2");
  EXPECT_EQ(found[0].which.current_shape, "4x4");
  EXPECT_EQ(found[1].which.base_shape, "3x3");
}

TEST(Parts, AnUnknownPathIsNoPart) {
  CallSite unknown = site("", "", {50'000});
  unknown.path = nullptr;
  const RunOperation run = operation({unknown, site("", "p", {10'000}), site("", "q", {30'000})});
  EXPECT_THAT(words_of(parts(run, run)), ElementsAre("in p", "in q", "in other operations"));
}

}  // namespace fathom::compare::parts_test
