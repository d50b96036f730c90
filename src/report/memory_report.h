#pragma once

#include <string>
#include <vector>

#include "explain/analysis.h"

namespace fathom::report {

// What `fathom memory` says about one trace.
struct MemoryReport {
  const std::string& source;  // the file's name
  const analyze::Memory& memory;
};

MemoryReport make_memory_report(const explain::Analysis& analysis);  // which must outlive it

// The device that the story is about: the GPU with the highest peak, or what there is instead. Null
// where there is none.
const analyze::DeviceMemory* main_device(const analyze::Memory& memory);

// "GPU 0", "CPU".
std::string device_label(const analyze::DeviceMemory& device);

// What was still allocated at the end, and by whom most of it; for what the run's and the memory's
// text say. There is at least one leak, and the first is the largest.
std::string leak_sentence(const std::vector<MemoryUse>& leaks);

// The sentence that tells the story, and one on what was left; empty where nothing is known of it.
struct MemoryStory {
  std::string headline;
  std::string detail;
};

// What an allocator held and did not use, and what to do about it; allocations that failed. A
// sentence each.
std::vector<std::string> memory_notes(const analyze::DeviceMemory& device);

// Where the softmax of an attention that writes out its scores holds a tenth of the peak or more:
// what does not. Else empty.
std::string softmax_hint(const analyze::DeviceMemory& device);

MemoryStory memory_story(const analyze::Memory& memory, const trace::Trace& trace);

// Tables hold `top` rows each and fit `width` columns.
std::string to_text(const MemoryReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width);

// docs/memory.schema.json describes it.
std::string to_json(const MemoryReport& report, const trace::Trace& trace);

}  // namespace fathom::report
