#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/memory/memory.h"
#include "report/hta_report.h"
#include "report/run_report.h"
#include "trace/trace.h"

namespace fathom::report {

// A figure, as people read it.
struct Card {
  std::string label;
  std::string value;
  std::string note;
  std::string to =
      {};  // the address of what is behind it: "kernels?class=copy"; empty where nothing is
};

// A share of the ring "where the time went". `part` names its colour (web/src/summary.ts).
struct RingPart {
  const char* label = "";
  const char* part = "";
  std::int64_t ns = 0;
};

// What the head of the page says: one sentence, the figures behind it, and where the time went. The
// ring's parts add up to its whole.
struct PageStory {
  std::string headline;
  std::string detail;
  std::vector<Card> cards;
  std::string ring_caption;
  std::int64_t ring_total_ns = 0;
  std::vector<RingPart> ring;
};

// Of one trace; `report` and `hta` (all steps) are of the same.
PageStory page_story(const RunReport& report, const HtaReport& hta,
                     const explain::Analysis& analysis);

// Of many ranks.
PageStory page_story(const HtaReport& hta);

// "Peak memory 11.2 GB, 70 % of 16 GB".
Card peak_memory_card(const analyze::DeviceMemory& device, const trace::Trace& trace);

// All there is to say of a device's memory: peak, reserved, allocations, what was left.
std::vector<Card> memory_cards(const analyze::DeviceMemory& device, const analyze::Memory& memory,
                               const trace::Trace& trace);

}  // namespace fathom::report
