#include "record/python/python_layout.h"

#include <array>

namespace fathom::record {
namespace {

constexpr PythonLayout kPython38 = {.interpreters_head = 32,
                                    .next_interpreter = 0,
                                    .threads_head = 8,
                                    .next_thread = 8,
                                    .thread_id = 176,
                                    .native_id = 0,
                                    .frame = 24,
                                    .frame_in_c = 0,
                                    .has_c_frame = false,
                                    .code = 32,
                                    .previous = 24,
                                    .owner = 0,
                                    .file_name = 104,
                                    .name = 112,
                                    .first_line = 40,
                                    .ascii_text = 48,
                                    .other_text = 72};
constexpr PythonLayout kPython311 = {.interpreters_head = 40,
                                     .next_interpreter = 0,
                                     .threads_head = 16,
                                     .next_thread = 8,
                                     .thread_id = 152,
                                     .native_id = 160,
                                     .frame = 56,
                                     .frame_in_c = 8,
                                     .has_c_frame = true,
                                     .code = 32,
                                     .previous = 48,
                                     .owner = 69,
                                     .file_name = 112,
                                     .name = 128,
                                     .first_line = 72,
                                     .ascii_text = 48,
                                     .other_text = 72};
constexpr PythonLayout kPython312 = {.interpreters_head = 40,
                                     .next_interpreter = 0,
                                     .threads_head = 72,
                                     .next_thread = 8,
                                     .thread_id = 136,
                                     .native_id = 144,
                                     .frame = 56,
                                     .frame_in_c = 0,
                                     .has_c_frame = true,
                                     .code = 0,
                                     .previous = 8,
                                     .owner = 70,
                                     .file_name = 112,
                                     .name = 128,
                                     .first_line = 68,
                                     .ascii_text = 40,
                                     .other_text = 56};
constexpr PythonLayout kPython313 = {.interpreters_head = 632,
                                     .next_interpreter = 7264,
                                     .threads_head = 7344,
                                     .next_thread = 8,
                                     .thread_id = 152,
                                     .native_id = 160,
                                     .frame = 72,
                                     .frame_in_c = 0,
                                     .has_c_frame = false,
                                     .code = 0,
                                     .previous = 8,
                                     .owner = 70,
                                     .file_name = 112,
                                     .name = 128,
                                     .first_line = 68,
                                     .ascii_text = 40,
                                     .other_text = 56};

constexpr std::array<PythonLayout, kNewestPython - kOldestPython + 1> kLayouts = {
    kPython38, kPython38, kPython38, kPython311, kPython312, kPython313};

}  // namespace

const PythonLayout* python_layout(int minor) {
  if (minor < kOldestPython || minor > kNewestPython) return nullptr;
  return &kLayouts[static_cast<std::size_t>(minor - kOldestPython)];
}

}  // namespace fathom::record
