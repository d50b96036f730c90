#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/read/snapshot/pickle.h"

namespace fathom::trace {

// Runs the opcodes of a pickle: a stack of values, marks on it, and a memo. Of calls it keeps the
// name and nothing else.
class PickleMachine {
 public:
  PickleMachine(Pickle& into, std::string_view bytes);

  void run();

 private:
  using Node = Pickle::Node;

  // Ends the run; thrown and caught within the machine alone.
  struct Stop {
    PickleEnd end;
  };

  void step(char opcode);
  bool step_constant(char opcode);
  bool step_text(char opcode);
  bool step_container(char opcode);
  bool step_memo(char opcode);
  bool step_call(char opcode);

  std::string_view take(std::uint64_t size);
  std::string_view take_line();
  std::uint64_t take_number(std::size_t bytes);

  void push(PickleRef value) { stack_.push_back(value); }
  void push_node(Node node);
  void push_integer(std::optional<std::int64_t> value);
  void push_text(std::string_view view, PickleKind kind = PickleKind::text);
  void push_decoded(std::string text);
  void push_container(PickleKind kind, std::vector<PickleRef> items);
  void push_object(std::string_view name);
  void push_int_line(std::string_view line);
  void push_float_line(std::string_view line);
  PickleRef pop();
  std::vector<PickleRef> pop_to_mark();
  std::vector<PickleRef> pop_last(std::size_t count);
  PickleRef top() const;
  void add(std::vector<PickleRef> items, bool to_dict);
  void refuse(PickleRef callable, std::uint64_t count);
  void reduce();
  void memoize(std::uint64_t index);
  void get(std::uint64_t index);
  void collapse();

  Pickle& to_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t max_containers_;
  std::vector<PickleRef> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleRef> memo_;
  std::size_t memoized_ = 0;
};

}  // namespace fathom::trace
