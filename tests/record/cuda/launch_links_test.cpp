#include "record/cuda/launch_links.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fathom::record::cuda::launch_links_test {

TEST(LaunchLinks, WhatWasNotNotedIsEmpty) {
  LaunchLinks links;
  EXPECT_FALSE(links.find(1).scope);
  EXPECT_FALSE(links.find(1).thread);
  EXPECT_FALSE(links.find(0).scope);
}

TEST(LaunchLinks, AnOldCallIsForgottenButNeverMistaken) {
  LaunchLinks links;
  links.note(5, {ScopeRef{50}, 1});
  EXPECT_EQ(links.find(5).scope.instance, 50U);
  links.note(5 + 65'536, {ScopeRef{51}, 2});
  EXPECT_FALSE(links.find(5).scope);
  EXPECT_EQ(links.find(5 + 65'536).scope.instance, 51U);
}

TEST(LaunchLinks, PollingDoesNotPushOutALaunchItDoesNotMeet) {
  LaunchLinks links;
  links.note(7, {ScopeRef{70}, 1});
  // Ten million calls that only asked took ids but were not noted; then more launches.
  for (std::uint32_t id = 10'000'000; id < 10'010'000; ++id) links.note(id, {ScopeRef{71}, 1});
  EXPECT_EQ(links.find(7).scope.instance, 70U);
}

TEST(LaunchLinks, AnExternalIdAddsTheScopeAndKeepsTheThread) {
  LaunchLinks links;
  links.note(3, {ScopeRef{}, 42});
  links.note_scope(3, ScopeRef{30});
  EXPECT_EQ(links.find(3).scope.instance, 30U);
  EXPECT_EQ(links.find(3).thread, 42);
  links.note_scope(3 + 65'536, ScopeRef{31});
  EXPECT_FALSE(links.find(3 + 65'536).thread);
}

TEST(LaunchLinks, ThreadsNoteAndFindAtOnce) {
  LaunchLinks links;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&links, t] {
      for (std::uint32_t id = t; id < 40'000; id += 4) {
        links.note(id, {ScopeRef{id}, t});
        const LaunchOrigin found = links.find(id);
        ASSERT_EQ(found.scope.instance, id);
        ASSERT_EQ(found.thread, t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fathom::record::cuda::launch_links_test
