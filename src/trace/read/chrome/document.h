#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/read/chrome/rows.h"
#include "trace/read/chrome/tolerant.h"

namespace fathom::trace {

enum class DocumentForm : std::uint8_t {
  object,  // {"traceEvents": [ … ], … }
  array,   // [ … ], perhaps several, perhaps without the end
  lines,   // one event after the other, no brackets
};

// Told by the first bytes.
DocumentForm form_of(std::string_view head);

enum class DocumentEnd : std::uint8_t {
  at_events,       // the list of events begins here
  between_events,  // the text ends where another event could follow
  inside,          // the text ends inside of something
  after,           // the document has ended, and the text too
  at_stop,         // arrived at one of the given offsets, between two events
};

// Walks a document: what is around the events itself, the events through the tolerant scanner.
class DocumentScanner {
 public:
  DocumentScanner(TolerantScanner& scanner, DocumentForm form, EventRows& rows, Batch& batch)
      : scan_(scanner), form_(form), rows_(rows), batch_(batch) {}

  // For text that begins among the events; `needs_comma` if the last event was just read.
  void begin_among_events(bool needs_comma = false);

  // Goes on to the list of events, and stops there.
  DocumentEnd find_events();

  // Goes on to the end of the text, or to an event that begins at one of `stops` (sorted).
  DocumentEnd read_all(std::span<const std::uint64_t> stops = {});

 private:
  enum class Level : std::uint8_t { outside, keys, events };

  DocumentEnd run(bool until_events, std::span<const std::uint64_t> stops);
  bool step_outside();
  bool step_keys();
  bool step_events();
  bool step_heading(std::string_view key);
  bool step_event();
  void recover();

  TolerantScanner& scan_;
  const DocumentForm form_;
  EventRows& rows_;
  Batch& batch_;
  Level level_ = Level::outside;
  bool needs_comma_ = false;
  bool after_comma_ = false;
  Event event_;
};

}  // namespace fathom::trace
