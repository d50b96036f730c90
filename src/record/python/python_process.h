#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/python/elf_symbols.h"
#include "record/python/python_layout.h"

namespace fathom::record {

// What a thread runs: functions by their numbers in PythonNames, outermost first.
struct PythonStack {
  pid_t thread = 0;
  std::vector<std::uint32_t> functions;
};

// Functions by number, "train.py(12): Net.forward", the same in every process.
class PythonNames {
 public:
  std::uint32_t number_of(const std::string& name);
  const std::string& name(std::uint32_t number) const { return names_[number]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// The CPython in another process, read from outside: it is never stopped and notices nothing. What
// is read while it runs may be half of a change; what does not hold together is left out.
class PythonProcess {
 public:
  enum class State : std::uint8_t { none, unknown_version, not_allowed, found };

  PythonProcess(pid_t process, PythonNames& names) : process_(process), names_(names) {}

  // Looks for an interpreter; again, where there was none yet or the process has become another
  // program.
  State look();
  int minor() const { return minor_; }  // of 3.x

  // Of each thread that runs Python. Empty where there is no interpreter, or none can be read.
  std::vector<PythonStack> stacks();

 private:
  struct Function {
    std::uint64_t name = 0,
                  file = 0;  // addresses: they tell whether a code object is still the same
    std::int32_t line = 0;
    std::uint32_t number = 0;
  };

  bool read(std::uint64_t address, void* to, std::size_t bytes) const;
  std::uint64_t pointer_at(std::uint64_t address) const;  // 0 where it cannot be read
  std::optional<std::string> text_at(std::uint64_t object) const;
  bool take_published_offsets();
  using Frame = std::array<char, 80>;        // as much of it as counts
  using CodeObject = std::array<char, 144>;  // the same
  bool read_frame(std::uint64_t address, Frame& frame);
  bool read_codes(std::uint64_t thread);
  bool read_stack(std::uint64_t thread, PythonStack& stack);
  std::optional<std::uint32_t> function_of(std::uint64_t code, const CodeObject& object);
  pid_t native_id(std::uint64_t thread) const;
  std::string short_file(std::string file) const;

  const pid_t process_;
  PythonNames& names_;
  std::string executable_;
  std::string working_folder_;
  int minor_ = 0;
  PythonLayout layout_ = {};
  std::uint64_t runtime_ = 0;
  std::unordered_map<std::uint64_t, Function> functions_;  // by the address of their code

  static constexpr std::uint64_t kNoWindow = UINT64_MAX / 2;
  std::array<char, 8192> window_ = {};      // memory that was read at once ...
  std::uint64_t window_begin_ = kNoWindow;  // ... from here
  std::vector<std::uint64_t> codes_;        // of the stack that is read
};

}  // namespace fathom::record
