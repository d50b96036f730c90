#include <fathom/compare.h>
#include <fathom/fathom.h>

#include <cstdio>

int main() {
  for (int i = 0; i < 1000; ++i) {
    FATHOM_SCOPE("consumer");
  }
  fathom::profiler().export_json("profile.json");
  const auto summary = fathom::profiler().summary();
  const auto comparison = fathom::compare_profiling_runs("profile.json", "profile.json");
  const bool counted =
      summary.at("consumer").call_count() == 1000 && comparison.operations().size() == 1;
  std::puts(counted ? "an installed Fathom works" : "an installed Fathom does not count");
  return counted ? 0 : 1;
}
