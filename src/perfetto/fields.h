#pragma once

#include <cstdint>

// Numbers of the Perfetto trace format (https://perfetto.dev, protos/perfetto/trace): the fields
// that Fathom writes and reads, one namespace a message. Every field here is a varint or a
// length-delimited message or string, except where a comment says so.
namespace fathom::perfetto {

namespace trace {
enum Field : std::uint32_t { kPacket = 1 };
}

namespace packet {
enum Field : std::uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,  // trusted_packet_sequence_id
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kIncrementalStateCleared = 41,  // deprecated: kStateCleared in kSequenceFlags
  kPreviousPacketDropped = 42,
  kProcessDescriptor = 43,  // deprecated: a TrackDescriptor
  kThreadDescriptor = 44,   // deprecated: a TrackDescriptor
  kCompressedPackets = 50,  // a zlib stream of a whole Trace message
  kTimestampClockId = 58,
  kDefaults = 59,  // trace_packet_defaults
  kTrackDescriptor = 60,
  kZstdCompressedPackets = 133,
  kFathomRun = 6970,  // ours; others skip it. docs/formats.md
};
}

// Bits of packet::kSequenceFlags.
inline constexpr std::uint32_t kStateCleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED
inline constexpr std::uint32_t kNeedsState = 2;    // SEQ_NEEDS_INCREMENTAL_STATE

namespace defaults {  // TracePacketDefaults
enum Field : std::uint32_t { kTrackEvent = 11, kTimestampClockId = 58 };
}

namespace clock_snapshot {
enum Field : std::uint32_t { kClocks = 1, kPrimaryTraceClock = 2 };
}

namespace clock {  // ClockSnapshot.Clock
enum Field : std::uint32_t {
  kClockId = 1,
  kTimestamp = 2,
  kIsIncremental = 3,
  kUnitMultiplierNs = 4,
};
}

enum BuiltinClock : std::uint32_t {
  kRealtime = 1,
  kRealtimeCoarse = 2,
  kMonotonic = 3,
  kMonotonicCoarse = 4,
  kMonotonicRaw = 5,
  kBoottime = 6,  // of packets that name no clock
};
inline constexpr std::uint32_t kFirstSequenceClock = 64;  // 64..127 belong to one sequence each

namespace track_descriptor {
enum Field : std::uint32_t {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kThread = 4,
  kParentUuid = 5,
  kCounter = 8,
  kStaticName = 10,
  kFathomTrack = 6970,  // ours; others skip it
};
}

namespace process {  // ProcessDescriptor
enum Field : std::uint32_t { kPid = 1, kCmdline = 2, kName = 6 };
}

namespace thread {  // ThreadDescriptor
enum Field : std::uint32_t { kPid = 1, kTid = 2, kName = 5, kReferenceTimestampUs = 6 };
}

namespace counter {  // CounterDescriptor
enum Field : std::uint32_t {
  kType = 1,
  kCategories = 2,
  kUnit = 3,
  kUnitMultiplier = 4,
  kIsIncremental = 5,
};
enum Unit : std::uint32_t { kTimeNs = 1, kCount = 2, kSizeBytes = 3 };
}  // namespace counter

namespace track_event {
enum Field : std::uint32_t {
  kTimestampDeltaUs = 1,  // deprecated
  kCategoryIids = 3,
  kDebugAnnotations = 4,
  kLegacyEvent = 6,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kExtraCounterValues = 12,
  kTimestampAbsoluteUs = 16,  // deprecated
  kCategories = 22,
  kName = 23,
  kCounterValue = 30,
  kExtraCounterTrackUuids = 31,
  kFlowIdsOld = 36,
  kTerminatingFlowIdsOld = 42,
  kDoubleCounterValue = 44,  // fixed64
  kExtraDoubleCounterTrackUuids = 45,
  kExtraDoubleCounterValues = 46,  // fixed64
  kFlowIds = 47,                   // fixed64
  kTerminatingFlowIds = 48,        // fixed64
  kCorrelationId = 52,
};
enum Type : std::uint32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
}  // namespace track_event

namespace legacy_event {  // TrackEvent.LegacyEvent
enum Field : std::uint32_t {
  kNameIid = 1,
  kPhase = 2,
  kDurationUs = 3,
  kUnscopedId = 6,
  kIdScope = 7,
  kBindId = 8,
  kLocalId = 10,
  kGlobalId = 11,
  kBindToEnclosing = 12,
  kFlowDirection = 13,
  kPidOverride = 18,
  kTidOverride = 19,
};
}

namespace debug_annotation {
enum Field : std::uint32_t {
  kNameIid = 1,
  kBool = 2,
  kUint = 3,
  kInt = 4,
  kDouble = 5,  // fixed64
  kString = 6,
  kPointer = 7,
  kNested = 8,
  kLegacyJson = 9,
  kName = 10,
  kDictEntries = 11,
  kArrayValues = 12,
  kStringIid = 17,
};
}

namespace nested_value {  // DebugAnnotation.NestedValue, before dict_entries and array_values
enum Field : std::uint32_t {
  kType = 1,  // 1 dictionary, 2 array
  kDictKeys = 2,
  kDictValues = 3,
  kArrayValues = 4,
  kInt = 5,
  kDouble = 6,  // fixed64
  kBool = 7,
  kString = 8,
};
}

namespace interned_data {
enum Field : std::uint32_t {
  kEventCategories = 1,
  kEventNames = 2,
  kDebugAnnotationNames = 3,
  kDebugAnnotationStrings = 29,
};
}

namespace interned {  // EventCategory, EventName, DebugAnnotationName, InternedString alike
enum Field : std::uint32_t { kIid = 1, kText = 2 };
}

// Our own packet: what Perfetto has no field for. Written in parts: command, start and host at the
// beginning; operations and drops when recording stops (a killed program leaves them out).
namespace fathom_run {
enum Field : std::uint32_t {
  kVersion = 1,            // string: of Fathom
  kCommand = 2,            // string
  kHost = 3,               // string
  kStartUnixNs = 4,        // Unix time ...
  kStartNs = 5,            // ... and the same instant on the trace's clock
  kDroppedScopes = 6,      // begun, counted in the statistics, not in the timeline
  kOperation = 7,          // message, repeated
  kDroppedActivities = 8,  // GPU activities lost
  kTitle = 9,              // string
  kRank = 10,
  kWorldSize = 11,
  kDevice = 12,       // message, repeated
  kTimeShiftNs = 13,  // subtract from every time: a trace with times below 0 was moved up by it
  kDroppedSpans = 14,
  kBaseTimeNs = 15,  // add to a time, after the shift, to get Unix time
  kBeginNs = 20,     // when the program was started ...
  kEndNs = 21,       // ... and when it was over, on the trace's clock
  kExitStatus = 22,  // of a program that was not ended by a signal
  kSignal = 23,
  kCpuNs = 24,     // processor time
  kScopeEnd = 25,  // message, repeated
};
}

// Of a scope that another thread ended: when, if its own track does not say.
namespace fathom_scope_end {
enum Field : std::uint32_t { kTrack = 1, kName = 2, kStartNs = 3, kEndNs = 4 };
}

namespace fathom_device {
enum Field : std::uint32_t { kId = 1, kName = 2, kMemoryBytes = 3, kMultiprocessors = 4 };
}

// Exactly which track of a Trace the descriptor's track belongs to. Several may say the same: the
// lanes that spans were laid out in because they overlap partly.
namespace fathom_track {
enum Field : std::uint32_t {
  kKind = 1,  // trace::TrackKind
  kPid = 2,
  kTid = 3,
  kPidText = 4,
  kTidText = 5,
  kProcessName = 6,
  kThreadName = 7,
  kDevice = 8,
  kStream = 9,
};
}

// Exact statistics of one operation; times in nanoseconds.
namespace fathom_operation {
enum Field : std::uint32_t {
  kName = 1,
  kCalls = 2,
  kTotalNs = 3,
  kSelfNs = 4,
  kMinNs = 5,
  kMaxNs = 6,
  kStdDevNs = 7,   // fixed64: double
  kP50Ns = 8,      // fixed64: double
  kP95Ns = 9,      // fixed64: double
  kP99Ns = 10,     // fixed64: double
  kErrors = 11,    // scopes that ended by an exception
  kNestedNs = 12,  // of calls inside other calls of the operation
};
}

}  // namespace fathom::perfetto
