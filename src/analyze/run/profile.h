#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fathom/figures.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Memory that was allocated when a scope ended.
struct ProfileMemory {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
};

// What a profile JSON says: its scopes, each with the parts of its time, and no GPU timeline.
// web/src/profile/ works out the same of a profile that is dropped onto the page, by the same
// definitions; web/tests/profile.test.mjs holds both to the same figures.
struct ProfileFindings {
  // One per operation, that of the largest weight first: the profile's own figures, which hold
  // however many entries were dropped. What they do not say is counted from the entries, where
  // those are all of the operation's calls.
  std::vector<NamedFigures> scopes;
  std::vector<double> shares;         // of each scope (weight_shares)
  std::optional<TimeParts> parts;     // of the outermost entries; absent where nothing is measured
  std::vector<ProfileMemory> memory;  // by time
  std::optional<std::int64_t> peak_bytes;  // of any entry
};

bool is_profile(const trace::Trace& trace);
ProfileFindings profile_findings(const trace::Trace& trace);

// What a scope is ranked by: its self time, else its total, else 0.
double weight_of(const NamedFigures& scope);

// Each scope's weight as a share of all, in percent; none where nothing has any.
std::vector<double> weight_shares(const std::vector<NamedFigures>& scopes);

}  // namespace fathom::analyze
