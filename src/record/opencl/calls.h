#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "record/opencl/clock.h"
#include "record/opencl/command.h"
#include "record/opencl/driver.h"

namespace fathom::record::opencl {

std::uint32_t thread_id() noexcept;         // of the calling thread, as the kernel numbers it
void forget_thread_id() noexcept;           // in a forked child
std::uint64_t next_correlation() noexcept;  // 1, 2, 3, …

// Hands over a call that was made on this thread and has just returned.
// `message` is what the driver said of a failure; empty where it said nothing.
void report_call(Kind kind, const char* name, std::int64_t begin_ns, std::int64_t end_ns,
                 cl_int status, std::string_view message = {}) noexcept;

// Makes the call and records it. `Call` returns what the program gets: an error code, or an object
// with the error code in `status`, which may be null.
template <typename Call>
auto timed(Kind kind, const char* name, Call call, const cl_int* status = nullptr) {
  const std::int64_t begin_ns = now_ns();
  const auto result = call();
  const std::int64_t end_ns = now_ns();
  if constexpr (std::is_same_v<decltype(result), const cl_int>) {
    report_call(kind, name, begin_ns, end_ns, result);
  } else {
    report_call(kind, name, begin_ns, end_ns, status == nullptr ? CL_SUCCESS : *status);
  }
  return result;
}

// The name of an entry point, as a template argument.
template <std::size_t N>
struct EntryName {
  char text[N] = {};
  consteval EntryName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

inline const cl_int* error_of() {
  return nullptr;
}
template <typename Last>
const cl_int* error_of(Last last) {
  if constexpr (std::is_same_v<Last, cl_int*>) {
    return last;
  } else {
    return nullptr;
  }
}
template <typename First, typename Second, typename... Rest>
const cl_int* error_of(First /*unused*/, Second second, Rest... rest) {
  return error_of(second, rest...);
}

// An entry point that does what it did, and is recorded as a call.
template <auto kEntry, EntryName kName, Kind kKind>
struct TimedEntry;

template <typename Result, typename... Args,
          Result (CL_API_CALL* cl_icd_dispatch::*kEntry)(Args...), EntryName kName, Kind kKind>
struct TimedEntry<kEntry, kName, kKind> {
  static Result CL_API_CALL call(Args... args) {
    const std::int64_t begin_ns = now_ns();
    if constexpr (std::is_void_v<Result>) {
      (driver.*kEntry)(args...);
      report_call(kKind, kName.text, begin_ns, now_ns(), CL_SUCCESS);
    } else {
      return timed(
          kKind, kName.text, [&] { return (driver.*kEntry)(args...); }, error_of(args...));
    }
  }
};

template <auto kEntry, EntryName kName, Kind kKind = Kind::call>
void replace_timed(cl_icd_dispatch& table) {
  replace(table.*kEntry, &TimedEntry<kEntry, kName, kKind>::call);
}

// Puts those into the table that programs will call.
void install_calls(cl_icd_dispatch& table);

}  // namespace fathom::record::opencl
