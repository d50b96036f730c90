#pragma once

#include "analyze/run/profile.h"
#include "base/json_writer.h"
#include "report/page/story.h"

// The sections of the page's summary document where the run is a profile JSON. What they say of it,
// web/src/profile/summary.ts says of a profile that is dropped onto the page.
namespace fathom::report {

// story, cards, ring
PageStory profile_story(const analyze::ProfileFindings& profile, std::size_t entries);

// slices: the four parts of the largest scopes
void write_profile_slices(base::JsonWriter& json, const analyze::ProfileFindings& profile);

// operations (none), scopes, bottlenecks
void write_profile_operations(base::JsonWriter& json, const analyze::ProfileFindings& profile);

// memory: at the end of each scope; null where none was measured
void write_profile_memory(base::JsonWriter& json, const analyze::ProfileFindings& profile,
                          std::int64_t begin_ns);

}  // namespace fathom::report
