#include <fathom/compare.h>
#include <fathom/fathom.h>
#include <fathom/monitor.h>

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
  fathom::MonitorConfig config;
  config.demo = true;
  fathom::Monitor monitor(config);
  monitor.start();
  const bool watched = monitor.devices().size() == 2;
  std::puts(!counted   ? "an installed Fathom does not count"
            : !watched ? "an installed Fathom does not watch"
                       : "an installed Fathom works");
  return counted && watched ? 0 : 1;
}
