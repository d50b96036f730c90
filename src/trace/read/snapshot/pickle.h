#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::trace {

// A value of a pickle, by number.
using PickleRef = std::uint32_t;

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,  // that fits 64 bits
  real,
  text,
  bytes,
  list,
  tuple,
  set,
  dict,
  object,  // all that is not plain data: a class, what a call would have made, a number too large
};

enum class PickleEnd : std::uint8_t { whole, cut_off, damaged };

// What is in a Python pickle, protocols 0 to 5. Nothing of it is ever run: a pickle that names
// classes or functions to call gets an opaque `object` in the place of each result. Values may
// contain themselves, so whoever walks them has to bound the depth. Memory is linear in the size of
// the pickle, and what takes more than data of that size could is taken for damaged.
class Pickle {
 public:
  // `bytes` has to outlive the Pickle. Of one that is cut off or damaged, the values before.
  explicit Pickle(std::string_view bytes);

  PickleEnd end() const { return end_; }
  std::size_t position() const { return position_; }  // where reading ended

  // The first call that was not made, "posix.system", and how many there were.
  const std::string& first_refused() const { return first_refused_; }
  std::uint64_t refused_calls() const { return refused_calls_; }

  PickleRef root() const { return root_; }
  PickleKind kind(PickleRef value) const { return nodes_[value].kind; }
  std::optional<std::int64_t> integer(PickleRef value) const;  // of integers and booleans
  std::optional<double> real(PickleRef value) const;
  std::string_view text(PickleRef value) const;             // empty where it is none
  std::span<const PickleRef> items(PickleRef value) const;  // of a dict: key, value, key, value …
  // Looks at the last 256 keys.
  std::optional<PickleRef> find(PickleRef dict, std::string_view key) const;

 private:
  friend class PickleMachine;

  struct Node {
    PickleKind kind = PickleKind::none;
    std::uint32_t size = 0;  // of text; of a container, its number
    union {
      std::int64_t integer = 0;
      double real;
      const char* text;
    };
  };

  std::vector<Node> nodes_;
  std::vector<std::vector<PickleRef>> containers_;
  std::deque<std::string> texts_;  // those that had to be decoded
  PickleRef root_ = 0;
  PickleEnd end_ = PickleEnd::whole;
  std::size_t position_ = 0;
  std::string first_refused_;
  std::uint64_t refused_calls_ = 0;
};

}  // namespace fathom::trace
