#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "trace/read/perfetto/sequence.h"
#include "trace/trace.h"

namespace fathom::trace {

struct LegacyFields {
  char phase = 0;
  std::uint64_t name_iid = 0;
  std::int64_t duration_us = 0;
  std::uint64_t id = 0;
  std::uint64_t bind_id = 0;
  bool id_is_local = false;
  std::string_view id_scope;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

// A TrackEvent message taken apart, nothing looked up yet.
struct EventFields {
  std::uint32_t type = 0;
  std::uint64_t name_iid = 0;
  std::string_view name;
  std::uint64_t track_uuid = 0;
  bool has_track = false;
  bool has_flows = false;
  bool has_annotations = false;
  bool has_correlation = false;
  bool is_double = false;
  bool is_broken = false;
  std::uint64_t category_iid = 0;
  std::string_view category;
  std::uint64_t correlation = 0;
  std::int64_t int_value = 0;
  double real_value = 0;
  std::optional<std::int64_t> delta_us;
  std::optional<std::int64_t> absolute_us;
  std::string_view legacy;
};

EventFields read_event(std::string_view message);
LegacyFields read_legacy(std::string_view message);

// A debug annotation that holds one number or text; others have no value.
struct DebugAnnotation {
  base::StringId name = 0;  // in the pool of annotation names; 0 where it is not known
  std::string_view text;    // lives as long as the message or the pool
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  double number() const { return integer ? static_cast<double>(*integer) : real.value_or(0); }
};

// Names of annotations that mean something to a Trace, in every pool at the same place.
enum KnownAnnotation : base::StringId {
  kAnnotationCorrelation = 1,
  kAnnotationBytes,
  kAnnotationMemoryBytes,
  kAnnotationMemoryAddress,
  kAnnotationTotalAllocated,
  kAnnotationTotalReserved,
  kAnnotationDeviceId,
  kAnnotationDeviceType,
  kAnnotationMemoryHandle,
  kAnnotationMemorySite,
  kAnnotationScope,
  kAnnotationGlobal,
  kAnnotationLocal,
  kAnnotationError,
};
void intern_known_annotations(base::StringPool& names);

DebugAnnotation read_annotation(std::string_view message, const Sequence& sequence,
                                base::StringPool& names);

inline constexpr std::string_view kMemoryEventName = "[memory]";

}  // namespace fathom::trace
