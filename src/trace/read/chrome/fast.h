#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "trace/read/chrome/event.h"
#include "trace/read/chrome/rows.h"

namespace fathom::trace {

// Where the fast scanner stopped: at an event that it did not take, or behind one that it did.
struct FastStop {
  std::size_t at = 0;
  bool is_after_event = false;
};

// Reads events that are valid JSON, at the speed of simdjson. It takes what it is sure of and stops
// at the first thing that is not as it should be; the tolerant scanner goes on from there.
class FastScanner {
 public:
  FastScanner();
  ~FastScanner();

  // `text` begins at the { of an event and can be read kPadding beyond its end; `base` is its
  // offset in the content.
  FastStop scan(std::string_view text, std::uint64_t base, bool is_lines, EventRows& rows);
  void let_go();  // of the memory that a large text took

 private:
  struct Structure;
  std::unique_ptr<Structure> structure_;
  Event event_;
};

}  // namespace fathom::trace
