#include <fathom/fathom.h>

#include <cstdio>

int main() {
  for (int i = 0; i < 1000; ++i) {
    FATHOM_SCOPE("consumer");
  }
  fathom::profiler().export_json("profile.json");
  const auto summary = fathom::profiler().summary();
  const bool counted = summary.at("consumer").call_count == 1000;
  std::puts(counted ? "an installed Fathom works" : "an installed Fathom does not count");
  return counted ? 0 : 1;
}
