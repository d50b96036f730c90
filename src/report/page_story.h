#pragma once

#include <string>
#include <vector>

#include "report/run_report.h"
#include "trace/trace.h"

namespace fathom::report {

// A figure, as people read it.
struct Card {
  std::string label;
  std::string value;
  std::string note;
};

// A share of the ring "where the time went". `part` names its colour (web/src/summary.ts).
struct RingPart {
  const char* label = "";
  const char* part = "";
  std::int64_t ns = 0;
};

// What the head of the page says: one sentence, the figures behind it, and where the time went. The
// ring's parts add up to its whole; without GPU work they are of the run's wall time.
struct PageStory {
  std::string headline;
  std::string detail;
  std::vector<Card> cards;
  std::string ring_caption;
  std::int64_t ring_total_ns = 0;
  std::vector<RingPart> ring;
};

PageStory page_story(const RunReport& report, const trace::Trace& trace);

// NCCL, RCCL and their like.
bool is_communication(std::string_view kernel_name);

}  // namespace fathom::report
