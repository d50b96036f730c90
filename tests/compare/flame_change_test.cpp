#include "compare/flame_change.h"

#include <gtest/gtest.h>

#include <map>

#include "analyze/trace_maker.h"
#include "compare/call_sites.h"

namespace fathom::compare::flame_change_test {

using analyze::TraceMaker;

analyze::FlameTree tree_of(TraceMaker& maker) {
  return analyze::flame_tree(maker.make(), {.min_duration_ns = 0});
}

// What each path took itself, before and now: "loop;load" → {base, current} of CPU time.
std::map<std::string, std::pair<double, double>> by_path(const FlameChange& flame) {
  std::map<std::string, std::pair<double, double>> found;
  std::vector<std::string> path(flame.nodes.size());
  for (std::size_t id = 1; id < flame.nodes.size(); ++id) {
    const FlameChangeNode& node = flame.nodes[id];
    const std::string above = path[node.parent].empty() ? "" : path[node.parent] + ";";
    path[id] = above + flame.names[node.name];
    found[path[id]] = {node.base.cpu_ns, node.current.cpu_ns};
  }
  return found;
}

Comparison of_parts(double base, double current) {
  Comparison comparison;
  comparison.base_parts = base;
  comparison.current_parts = current;
  return comparison;
}

TEST(FlameChange, JoinsThePathsOfBothSidesWhateverTheirThreads) {
  FlameChangeBuilder builder;
  builder.add(tree_of(TraceMaker().op("loop", 0, 1000, 1).op("load", 100, 300, 1)), Side::base);
  builder.add(tree_of(TraceMaker().op("loop", 0, 900, 5).op("load", 100, 100, 5)), Side::current);
  const auto paths = by_path(std::move(builder).finish(of_parts(1, 1)));
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths.at("loop"), std::pair(700.0, 800.0));
  EXPECT_EQ(paths.at("loop;load"), std::pair(300.0, 100.0));
}

TEST(FlameChange, KeepsWhatOneSideAloneHas) {
  FlameChangeBuilder builder;
  builder.add(tree_of(TraceMaker().op("old", 0, 1000)), Side::base);
  builder.add(tree_of(TraceMaker().op("fresh", 0, 500)), Side::current);
  const auto paths = by_path(std::move(builder).finish(of_parts(1, 1)));
  EXPECT_EQ(paths.at("old"), std::pair(1000.0, 0.0));
  EXPECT_EQ(paths.at("fresh"), std::pair(0.0, 500.0));
}

TEST(FlameChange, IsOfOneRunHoweverManyThereAre) {
  FlameChangeBuilder builder;
  for (int run = 0; run < 4; ++run) {
    builder.add(tree_of(TraceMaker().op("work", 0, 1000)), Side::base);
  }
  builder.add(tree_of(TraceMaker().op("work", 0, 1000)), Side::current);
  const auto paths = by_path(std::move(builder).finish(of_parts(4, 1)));
  EXPECT_EQ(paths.at("work"), std::pair(1000.0, 1000.0));
}

TEST(FlameChange, CountsTheSmallAsTheirParentsOwn) {
  FlameChangeBuilder builder;
  builder.add(tree_of(TraceMaker().op("loop", 0, 100'000).op("tiny", 100, 10)), Side::base);
  builder.add(tree_of(TraceMaker().op("loop", 0, 100'000).op("tiny", 100, 10)), Side::current);
  const auto paths = by_path(std::move(builder).finish(of_parts(1, 1)));
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths.at("loop"), std::pair(100'000.0, 100'000.0));
}

TEST(FlameChange, NumbersAndWorkersInNamesDoNotPartThem) {
  FlameChangeBuilder builder;
  builder.add(tree_of(TraceMaker().op("enumerate(DataLoader)#_SingleProcessDataLoaderIter", 0, 50)),
              Side::base);
  builder.add(tree_of(TraceMaker().op("enumerate(DataLoader)#_MultiProcessDataLoaderIter", 0, 9)),
              Side::current);
  const auto paths = by_path(std::move(builder).finish(of_parts(1, 1)));
  EXPECT_EQ(paths.at("enumerate(DataLoader)"), std::pair(50.0, 9.0));
}

TEST(FlameChange, LinesOfPythonFunctionsAndAddressesOfObjectsDoNotPartThem) {
  const auto name = [](std::string_view written) {
    return comparable_name(written, trace::SpanKind::python);
  };
  EXPECT_EQ(name("foo.py(12): f"), "foo.py: f");
  EXPECT_EQ(name("foo.py(12): f"), name("foo.py(15): f"));
  EXPECT_NE(name("foo.py(12): f"), name("foo.py(12): g"));
  EXPECT_EQ(name("<built-in method mm of type object at 0x7f10aB>"),
            "<built-in method mm of type object>");
  EXPECT_EQ(name("nn.Module: Linear_3"), "nn.Module: Linear_3");
  EXPECT_EQ(name("odd(x): f"), "odd(x): f");
  EXPECT_EQ(comparable_name("f(12): g", trace::SpanKind::cpu_op), "f(12): g");
}

}  // namespace fathom::compare::flame_change_test
