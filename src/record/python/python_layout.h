#pragma once

#include <cstdint>

namespace fathom::record {

inline constexpr int kOldestPython = 8;   // 3.8
inline constexpr int kNewestPython = 13;  // 3.13

// Where CPython 3.x keeps what a stack is made of, in bytes from the beginning of each structure,
// on 64-bit machines. Taken from the headers of each version (Include/internal).
struct PythonLayout {
  std::uint64_t interpreters_head;  // _PyRuntimeState
  std::uint64_t next_interpreter;   // PyInterpreterState
  std::uint64_t threads_head;
  std::uint64_t next_thread;  // PyThreadState
  std::uint64_t thread_id;    // what pthread_self() gives
  std::uint64_t native_id;    // the kernel's; 0 where that is not kept
  std::uint64_t frame;        // the innermost frame, or the structure that points to it
  std::uint64_t frame_in_c;   // in that structure
  bool has_c_frame;
  std::uint64_t code;       // frame
  std::uint64_t previous;   // the frame that called it
  std::uint64_t owner;      // a byte; 0 where there is none
  std::uint64_t file_name;  // PyCodeObject
  std::uint64_t name;       // qualified where there is such a name
  std::uint64_t first_line;
  std::uint64_t ascii_text;  // where the characters of a str begin
  std::uint64_t other_text;  // of one that is not ASCII
};

// nullptr for a version of which it is not known.
const PythonLayout* python_layout(int minor);

}  // namespace fathom::record
