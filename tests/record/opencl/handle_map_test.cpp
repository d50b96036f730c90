#include "record/opencl/handle_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

// A map that lives as long as its process keeps its tables on purpose.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace fathom::record::opencl::handle_map_test {

const void* handle(std::uintptr_t number) {
  return reinterpret_cast<const void*>(number * 16);
}

TEST(HandleMap, AgreesWithAMapOnRandomChanges) {
  HandleMap<std::uintptr_t> handles;
  std::map<std::uintptr_t, std::uintptr_t> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::uintptr_t key = 1 + random() % 3000;
    const std::uintptr_t value = random() % 4 == 0 ? 0 : 1 + random() % 100;
    ASSERT_TRUE(handles.set(handle(key), value));
    expected[key] = value;
    const std::uintptr_t asked = 1 + random() % 4000;
    const auto found = expected.find(asked);
    ASSERT_EQ(handles.find(handle(asked)), found == expected.end() ? 0 : found->second);
  }
}

TEST(HandleMap, NothingIsKnownOfNull) {
  HandleMap<std::uintptr_t> handles;
  EXPECT_EQ(handles.find(nullptr), 0U);
  EXPECT_FALSE(handles.set(nullptr, 5));
}

TEST(HandleMap, ReadersSeeWhatWasSetBeforeThem) {
  HandleMap<std::uintptr_t> handles;
  std::atomic<std::uintptr_t> ready = 0;
  std::thread writer([&] {
    for (std::uintptr_t i = 1; i <= 20'000; ++i) {
      handles.set(handle(i), i);
      ready.store(i, std::memory_order_release);
    }
  });
  std::mt19937 random(11);
  while (ready.load() < 20'000) {
    const std::uintptr_t known = ready.load(std::memory_order_acquire);
    if (known == 0) continue;
    const std::uintptr_t asked = 1 + random() % known;
    ASSERT_EQ(handles.find(handle(asked)), asked);
  }
  writer.join();
}

}  // namespace fathom::record::opencl::handle_map_test
