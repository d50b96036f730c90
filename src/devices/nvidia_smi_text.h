#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fathom/gpu_device.h"

// What nvidia-smi prints. It is a program for people: whatever is not a value, be it cut off or one
// of its many words for "not available", is absent.
namespace fathom::devices::smi {

// What to ask of each GPU, of what `nvidia-smi --help-query-gpu` lists: one name that it does not
// know spoils the whole answer. Where the help lists nothing, what every version knows.
std::vector<std::string> fields_to_ask(std::string_view help);

// The answer to --query-gpu=FIELDS --format=csv,noheader,nounits. Rows without UUID and address are
// left out, and rows with more values than were asked for.
std::vector<GpuDevice> parse_gpus(std::string_view csv, const std::vector<std::string>& fields);

// The answer to --query-compute-apps=gpu_uuid,pid,used_gpu_memory; the UUID first. Only pid and
// memory are told.
std::vector<std::pair<std::string, GpuProcess>> parse_programs(std::string_view csv);

}  // namespace fathom::devices::smi
