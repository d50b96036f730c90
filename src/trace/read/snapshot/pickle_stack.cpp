// What the opcodes of pickle_machine.cpp are made of: taking bytes, pushing values, and finishing
// what a cut left half built.

#include <charconv>
#include <utility>

#include "trace/read/snapshot/pickle_machine.h"
#include "trace/read/snapshot/pickle_text.h"

namespace fathom::trace {
namespace {

constexpr PickleRef kUnset = UINT32_MAX;

}  // namespace

std::string_view PickleMachine::take(std::uint64_t size) {
  if (size > bytes_.size() - at_) throw Stop{PickleEnd::cut_off};
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

std::string_view PickleMachine::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) throw Stop{PickleEnd::cut_off};
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

std::uint64_t PickleMachine::take_number(std::size_t size) {
  const std::string_view taken = take(size);
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(taken[i - 1]);
  }
  return value;
}

void PickleMachine::push_node(Node node) {
  if (to_.nodes_.size() >= kUnset) throw Stop{PickleEnd::damaged};
  push(static_cast<PickleRef>(to_.nodes_.size()));
  to_.nodes_.push_back(node);
}

void PickleMachine::push_integer(std::optional<std::int64_t> value) {
  Node node{value ? PickleKind::integer : PickleKind::object, 0, {}};
  node.integer = value.value_or(0);
  push_node(node);
}

void PickleMachine::push_text(std::string_view view, PickleKind kind) {
  if (view.size() > UINT32_MAX) throw Stop{PickleEnd::damaged};
  Node node{kind, static_cast<std::uint32_t>(view.size()), {}};
  node.text = view.data();
  push_node(node);
}

void PickleMachine::push_decoded(std::string text) {
  to_.texts_.push_back(std::move(text));
  push_text(to_.texts_.back());
}

void PickleMachine::push_container(PickleKind kind, std::vector<PickleRef> items) {
  if (to_.containers_.size() >= max_containers_) throw Stop{PickleEnd::damaged};
  push_node({kind, static_cast<std::uint32_t>(to_.containers_.size()), {}});
  to_.containers_.push_back(std::move(items));
}

// An object's text is its name.
void PickleMachine::push_object(std::string_view name) {
  to_.texts_.emplace_back(name);
  Node node{PickleKind::object, static_cast<std::uint32_t>(name.size()), {}};
  node.text = to_.texts_.back().data();
  push_node(node);
}

void PickleMachine::push_int_line(std::string_view line) {
  if (line == "00" || line == "01") {
    Node node{PickleKind::boolean, 0, {}};
    node.integer = line == "01" ? 1 : 0;
    return push_node(node);
  }
  push_integer(decode_decimal(line));
}

void PickleMachine::push_float_line(std::string_view line) {
  Node node{PickleKind::real, 0, {}};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), node.real);
  if (error == std::errc::invalid_argument) throw Stop{PickleEnd::damaged};
  push_node(node);
}

PickleRef PickleMachine::pop() {
  return pop_last(1)[0];
}

PickleRef PickleMachine::top() const {
  if (stack_.empty()) throw Stop{PickleEnd::damaged};
  return stack_.back();
}

std::vector<PickleRef> PickleMachine::pop_last(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count) throw Stop{PickleEnd::damaged};
  const auto from = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<PickleRef> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  return items;
}

std::vector<PickleRef> PickleMachine::pop_to_mark() {
  if (marks_.empty()) throw Stop{PickleEnd::damaged};
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleRef> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}

// To the container on top. Objects of classes that are lists or dicts take items too, and stay
// opaque.
void PickleMachine::add(std::vector<PickleRef> items, bool to_dict) {
  const Node& node = to_.nodes_[top()];
  if (node.kind == PickleKind::object) return;
  const bool is_dict = node.kind == PickleKind::dict;
  const bool takes_items = node.kind == PickleKind::list || node.kind == PickleKind::set;
  if (to_dict ? !is_dict || items.size() % 2 != 0 : !takes_items) throw Stop{PickleEnd::damaged};
  std::vector<PickleRef>& into = to_.containers_[node.size];
  if (into.empty()) {
    into = std::move(items);
  } else {
    into.insert(into.end(), items.begin(), items.end());
  }
}

void PickleMachine::refuse(PickleRef callable, std::uint64_t count) {
  to_.refused_calls_ += count;
  const Node& node = to_.nodes_[callable];
  if (to_.first_refused_.empty() && node.kind == PickleKind::object && node.size > 0) {
    to_.first_refused_ = {node.text, node.size};
  }
}

void PickleMachine::reduce() {
  const std::vector<PickleRef> parts = pop_last(2);
  const Node& callable = to_.nodes_[parts[0]];
  const std::string_view name = callable.kind == PickleKind::object && callable.size > 0
                                    ? std::string_view(callable.text, callable.size)
                                    : std::string_view();
  // Dicts with an order or a default are empty when they are made, and get their items after.
  if (name == "collections.OrderedDict" || name == "collections.defaultdict") {
    return push_container(PickleKind::dict, {});
  }
  push(parts[0]);
  refuse(parts[0], 1);
}

void PickleMachine::memoize(std::uint64_t index) {
  if (index > bytes_.size()) throw Stop{PickleEnd::damaged};
  if (index >= memo_.size()) memo_.resize(index + 1, kUnset);
  if (memo_[index] == kUnset) ++memoized_;
  memo_[index] = top();
}

void PickleMachine::get(std::uint64_t index) {
  if (index >= memo_.size() || memo_[index] == kUnset) throw Stop{PickleEnd::damaged};
  push(memo_[index]);
}

// Items wait on the stack for the opcode that puts them into their container; where it never came,
// this does. A container of one item has no mark, which shows in a dict by a container in the place
// of a key: it is the item of the empty list before it.
void PickleMachine::collapse() {
  while (!marks_.empty()) {
    const std::size_t mark = marks_.back();
    std::vector<PickleRef> items = pop_to_mark();
    if (mark == 0) {
      stack_ = std::move(items);
      continue;
    }
    const Node into = to_.nodes_[stack_.back()];
    if (into.kind < PickleKind::list || into.kind > PickleKind::dict) continue;
    if (into.kind == PickleKind::dict && items.size() % 2 == 1) {
      const PickleRef last = items.back();
      items.pop_back();
      const bool has_list = !items.empty() && to_.nodes_[items.back()].kind == PickleKind::list;
      if (has_list && !to_.items(last).empty()) {
        to_.containers_[to_.nodes_[items.back()].size].push_back(last);
      }
    }
    std::vector<PickleRef>& to = to_.containers_[into.size];
    to.insert(to.end(), items.begin(), items.end());
  }
}

}  // namespace fathom::trace
