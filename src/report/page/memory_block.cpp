#include "report/page/memory_block.h"

#include <algorithm>

#include "analyze/memory/memory_over_time.h"
#include "analyze/memory/memory_roles.h"
#include "base/json_writer.h"
#include "report/memory_report.h"

namespace fathom::report {
namespace {

using analyze::DeviceMemory;
using analyze::Memory;
using analyze::MemoryOverTime;
using base::JsonWriter;

template <typename Number>
void write_numbers(JsonWriter& json, const std::vector<Number>& numbers) {
  json.begin_array();
  for (const Number& number : numbers) json.value(number);
  json.end_array();
}

void write_unused(JsonWriter& json, std::string_view key, std::string_view label, std::size_t level,
                  const std::optional<analyze::UnusedMemory>& unused, const DeviceMemory& device) {
  json.key(key);
  if (!unused) {
    json.null();
    return;
  }
  json.begin_object().key("label").value(label);
  json.key("reserved").value(unused->reserved);
  json.key("allocated").value(device.levels[level].allocated);
  json.key("free_segment_bytes").value(unused->free_segment_bytes);
  json.key("free_segments").value(unused->free_segments);
  json.key("hole_bytes").value(unused->hole_bytes);
  json.key("largest_free_bytes").value(unused->largest_free_bytes).end_object();
}

void write_failures(JsonWriter& json, const DeviceMemory& device, const Memory& memory,
                    const trace::Trace& trace) {
  json.key("failures").begin_array();
  for (const trace::OutOfMemory& failure : device.failures) {
    json.begin_object().key("time_ns").value(failure.time_ns - memory.begin_ns);
    json.key("bytes").value(failure.bytes).key("device_free").value(failure.device_free);
    json.key("call").value(trace.names.view(failure.site)).key("stack").value(failure.stack);
    json.end_object();
  }
  json.end_array();
}

void write_owners(JsonWriter& json, const MemoryOverTime& over) {
  json.key("owners").begin_array();
  for (const MemoryOverTime::Owner& owner : over.owners) {
    json.begin_object().key("scope").value(owner.scope).key("call").value(owner.call).end_object();
  }
  json.end_array().key("of_owners").begin_array();
  for (const std::vector<std::int64_t>& bytes : over.of_owners) write_numbers(json, bytes);
  json.end_array().key("of_others");
  write_numbers(json, over.of_others);
  json.key("older");
  write_numbers(json, over.older);
  json.key("of_roles").begin_array();
  for (const MemoryOverTime::Role& role : over.of_roles) {
    json.begin_object().key("role").value(analyze::role_name(role.role)).key("bytes");
    write_numbers(json, role.bytes);
    json.end_object();
  }
  json.end_array().key("spare");
  write_numbers(json, over.spare);
  json.key("unused");
  if (!over.unused) {
    json.null();
    return;
  }
  json.begin_object().key("free_segments");
  write_numbers(json, over.unused->free_segments);
  json.key("holes");
  write_numbers(json, over.unused->holes);
  json.end_object();
}

template <typename Value>
void column(JsonWriter& json, std::string_view name, const MemoryOverTime& over,
            const Value& value) {
  json.key(name).begin_array();
  for (const MemoryOverTime::Block& block : over.blocks) json.value(value(block));
  json.end_array();
}

void write_blocks(JsonWriter& json, const MemoryOverTime& over) {
  using Block = MemoryOverTime::Block;
  json.key("blocks").begin_object();
  column(json, "owner", over, [](const Block& block) {
    return block.owner == MemoryOverTime::kOlder ? std::nullopt : std::optional(block.owner);
  });
  column(json, "stack", over, [](const Block& block) { return block.stack; });
  column(json, "bytes", over, [](const Block& block) { return block.bytes; });
  column(json, "from", over, [](const Block& block) { return block.from; });
  column(json, "to", over, [](const Block& block) { return block.to; });
  column(json, "role", over, [](const Block& block) {
    return block.role ? std::optional(static_cast<std::uint32_t>(*block.role)) : std::nullopt;
  });
  json.end_object().key("left_out_blocks").value(over.left_out_blocks);
}

void write_device(JsonWriter& json, const DeviceMemory& device, const MemoryOverTime& over,
                  const Memory& memory, const trace::Trace& trace) {
  json.begin_object().key("label").value(device_label(device));
  json.key("notes").begin_array();
  for (const std::string& note : memory_notes(device)) json.value(note);
  json.end_array().key("hint").value(softmax_hint(device));
  const std::size_t last = device.levels.size() - 1;
  write_unused(json, "unused_at_peak", "at the peak", device.peak, device.unused_at_peak, device);
  write_unused(json, "unused_at_end", "at the end", last, device.unused_at_end, device);
  write_failures(json, device, memory, trace);
  const auto peak = std::ranges::find(over.moments, device.peak);
  json.key("peak").value(peak - over.moments.begin());
  json.key("times_ns").begin_array();
  for (const std::size_t level : over.moments) {
    json.value(device.levels[level].time_ns - memory.begin_ns);
  }
  json.end_array();
  write_owners(json, over);
  write_blocks(json, over);
  json.end_object();
}

}  // namespace

std::string page_memory(const explain::Analysis& analysis) {
  const Memory& memory = analysis.memory();
  const trace::Trace& trace = analysis.trace();
  const DeviceMemory* const first = main_device(memory);
  if (first == nullptr) return {};
  const std::vector<MemoryOverTime>& over = analysis.memory_over_time();
  const auto main = static_cast<std::size_t>(first - memory.devices.data());
  const MemoryStory story = memory_story(memory, trace);
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("headline").value(story.headline).key("detail").value(story.detail);
  json.key("role_names").begin_array();
  for (std::size_t role = 0; role < analyze::kMemoryRoles; ++role) {
    json.value(analyze::role_name(static_cast<analyze::MemoryRole>(role)));
  }
  json.end_array().key("devices").begin_array();
  write_device(json, memory.devices[main], over[main], memory, trace);
  for (std::size_t i = 0; i < over.size(); ++i) {
    if (i != main) write_device(json, memory.devices[i], over[i], memory, trace);
  }
  // Frames stand in many stacks, and names of spans in none.
  json.end_array().key("stacks").begin_array();
  base::StringPool frames;
  for (const trace::AllocationStack& stack : trace.allocator.stacks) {
    json.begin_array();
    for (const trace::NameId frame : stack.frames) {
      json.value(frames.intern(trace.names.view(frame)));
    }
    json.end_array();
  }
  json.end_array().key("frames").begin_array();
  for (base::StringId id = 0; id < frames.size(); ++id) json.value(frames.view(id));
  json.end_array().end_object();
  return out;
}

}  // namespace fathom::report
