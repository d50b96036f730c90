#include "trace/read/snapshot/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fathom::trace {
namespace {

constexpr std::string_view kOps = "at::_ops::";
constexpr std::string_view kNodes = "torch::autograd::generated::";
constexpr std::string_view kEngine = "torch::autograd::Engine::evaluate_function";
constexpr std::size_t kDeepest = 256;  // frames that are kept of a stack

// "a/torch/b.py", "torch/b.py": a folder of that name is on the way.
bool is_in(std::string_view file, std::string_view folder) {
  for (std::size_t at = file.find(folder); at != std::string_view::npos;
       at = file.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    if ((at == 0 || file[at - 1] == '/') && end < file.size() && file[end] == '/') return true;
  }
  return false;
}

bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.starts_with("<ipython");
}

bool is_of_the_user(std::string_view file) {
  static constexpr std::array<std::string_view, 4> kFolders = {"site-packages", "dist-packages",
                                                               "einops", "transformers"};
  return file.find("lib/python3") == std::string_view::npos &&
         std::ranges::none_of(kFolders,
                              [&](std::string_view folder) { return is_in(file, folder); });
}

// Of a path what is after the last but one slash: enough to tell two "model.py" apart.
std::string_view with_its_folder(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return file;
  const std::size_t before = file.rfind('/', slash - 1);
  return before == std::string_view::npos ? file : file.substr(before + 1);
}

// "at::_ops::neg::redispatch(…)" → "at::_ops::neg".
std::string_view op_of(std::string_view name) {
  return name.substr(0, name.find("::", kOps.size()));
}

// "torch::autograd::generated::LogBackward0::apply(…)", "…::LogBackward0_apply_functional(…)" →
// "LogBackward0"; empty for what is no node.
std::string_view node_of(std::string_view name) {
  name = name.substr(kNodes.size());
  name = name.substr(0, name.find_first_of(":(_"));
  return name.find("Backward") == std::string_view::npos ? std::string_view() : name;
}

}  // namespace

StackReader::Frame StackReader::read(PickleRef frame) {
  const auto text = [&](std::string_view key) {
    const auto value = pickle_.find(frame, key);
    return value ? pickle_.text(*value) : std::string_view();
  };
  const std::string_view file = text("filename");
  const std::string_view name = text("name");
  if (is_python(file)) {
    // How PyTorch calls a module, twice per module, says nothing.
    const bool is_torch = is_in(file, "torch") || file.starts_with("<frozen");
    if (is_torch && (name == "_call_impl" || name == "_wrapped_call_impl")) return {};
    const auto line = pickle_.find(frame, "line");
    const std::int64_t number = line ? pickle_.integer(*line).value_or(0) : 0;
    const NameId whole =
        part_.names.intern(fmt::format("{}:{} {}", with_its_folder(file), number, name));
    if (is_torch) return {Kind::noise, whole};
    return {is_of_the_user(file) ? Kind::user : Kind::library, whole};
  }
  if (name.starts_with(kOps)) {
    return {Kind::op, part_.names.intern(op_of(name))};
  }
  if (name.starts_with(kNodes)) {
    const std::string_view node = node_of(name);
    if (node.empty()) return {};
    return {Kind::node, part_.names.intern(node)};
  }
  if (name.starts_with(kEngine)) return {Kind::engine, 0};
  return {};
}

const StackReader::Frame& StackReader::frame(PickleRef frame) {
  const auto [at, is_new] = frames_.try_emplace(frame);
  if (is_new) at->second = read(frame);
  return at->second;
}

NameId StackReader::site_of(const std::vector<Frame>& frames) {
  const auto first = [&](Kind kind) -> std::optional<NameId> {
    const auto found = std::ranges::find(frames, kind, &Frame::kind);
    return found == frames.end() ? std::nullopt : std::optional(found->name);
  };
  std::optional<NameId> line = first(Kind::user);
  if (!line) line = first(Kind::library);
  if (line) {
    const std::string_view whole = part_.names.view(*line);
    return part_.names.intern(std::string(whole.substr(whole.find('/') + 1)));
  }
  const std::optional<NameId> op = first(Kind::op);
  const std::optional<NameId> node = first(Kind::node);
  if (op && node) {
    return part_.names.intern(
        fmt::format("{} · {}", part_.names.view(*node), part_.names.view(*op)));
  }
  return op.value_or(node.value_or(0));
}

// One operator calls itself again for each dispatch key: once is enough.
StackId StackReader::stack_of(const std::vector<Frame>& frames) {
  std::pair<std::vector<NameId>, bool> key;
  for (const Frame& frame : frames) {
    key.second = key.second || frame.kind == Kind::engine;
    const bool is_again = !key.first.empty() && key.first.back() == frame.name;
    if (frame.name == 0 || is_again || key.first.size() == kDeepest) continue;
    key.first.push_back(frame.name);
  }
  if (key.first.empty() && !key.second) return 0;
  std::vector<AllocationStack>& stacks = part_.allocator.stacks;
  const auto next = static_cast<StackId>(stacks.size());
  const auto [at, is_new] = stacks_.try_emplace(key, next);
  if (is_new) stacks.push_back({std::move(key.first), key.second});
  return at->second;
}

StackReader::Place StackReader::of(PickleRef owner) {
  if (part_.allocator.stacks.empty()) part_.allocator.stacks.emplace_back();
  const auto list = pickle_.find(owner, "frames");
  if (!list) return {};
  const auto [at, is_new] = places_.try_emplace(*list);
  if (!is_new) return at->second;
  std::vector<Frame> frames;
  for (const PickleRef item : pickle_.items(*list)) {
    const Frame& known = frame(item);
    if (known.name != 0 || known.kind == Kind::engine) frames.push_back(known);
  }
  return at->second = {site_of(frames), stack_of(frames)};
}

}  // namespace fathom::trace
