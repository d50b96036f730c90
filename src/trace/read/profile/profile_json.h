#pragma once

#include <memory>
#include <string_view>

#include "trace/trace.h"

namespace fathom::trace {

// Reads a profile: {"fathom": …, "run": {…}, "entries": […], "summary": {…}}, every part of it
// optional, so that the files of older profilers load too. An entry becomes a span of kind scope on
// its thread's track, and Trace::args gives back all of its fields; the summary becomes
// Trace::operations. `owner` keeps `bytes` alive. What is damaged is skipped and counted; the Trace
// is empty where there was nothing to read.
Trace read_profile_json(std::string_view bytes, std::shared_ptr<const void> owner);

}  // namespace fathom::trace
