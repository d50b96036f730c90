#pragma once

#include <string>

#include "analyze/ranks/ranks.h"
#include "base/json_writer.h"

namespace fathom::report {

// Who comes late to the collectives, in a sentence. There are two ranks or more.
std::string ranks_story(const analyze::RankReport& report);

// Ranks side by side: who waited for whom, and the collectives in which that cost most, `top` rows.
// Empty for fewer than two.
std::string to_text(const analyze::RankReport& report, std::size_t top, std::size_t width);

// {"ranks": […], "collectives": […], "stragglers": […], …}, as a value where the writer stands.
void write_json(base::JsonWriter& json, const analyze::RankReport& report);

}  // namespace fathom::report
