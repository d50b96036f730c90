#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::detail {

// Number of an operation's name, the same in all profilers of the process; 0 is none.
using OperationId = std::uint32_t;

// Names beyond this many share one operation: a program that makes up names without end must not
// fill the memory.
inline constexpr OperationId kMaxOperations = 1U << 18;
inline constexpr std::string_view kOtherOperations = "(other operations)";

OperationId operation_id(std::string_view name) noexcept;  // 0 when out of memory
std::string operation_name(OperationId operation);

class LiveFile;
void set_live_names(LiveFile* live) noexcept;  // which gets those there are, and all to come

// Around a fork.
void lock_operations() noexcept;
void unlock_operations() noexcept;

}  // namespace fathom::detail
