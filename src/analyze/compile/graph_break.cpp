#include "analyze/compile/graph_break.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace fathom::analyze {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::int64_t number_at(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Of `  File "/a/model.py", line 41, in forward`.
std::optional<StackFrame> frame_of(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  line = trimmed(line);
  const std::size_t number = line.find(kLine);
  const std::size_t in = line.find(kIn, std::min(number, line.size()));
  if (!line.starts_with(kFile) || number == std::string_view::npos || in == std::string_view::npos)
    return {};
  StackFrame frame;
  frame.file = line.substr(kFile.size(), number - kFile.size());
  frame.line = number_at(line.substr(number + kLine.size()));
  frame.function = line.substr(in + kIn.size());
  return frame;
}

// The frames of a Python traceback; the line of code below each, where it has one.
std::vector<StackFrame> frames_of(std::string_view text) {
  std::vector<StackFrame> frames;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed(line).starts_with("Traceback (most recent call last)")) break;  // torch's own
    if (auto frame = frame_of(line)) {
      frames.push_back(std::move(*frame));
    } else if (!frames.empty() && frames.back().code.empty()) {
      frames.back().code = trimmed(line);
    }
  }
  return frames;
}

// What stands behind `label`, to the end of its line.
std::string_view line_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + label.size());
  return trimmed(text.substr(0, text.find('\n')));
}

std::string place_of(std::string_view file_and_line) {
  const std::size_t colon = file_and_line.rfind(':');
  if (colon == std::string_view::npos) return {};
  return "at " +
         short_place(file_and_line.substr(0, colon), number_at(file_and_line.substr(colon + 1)));
}

// Where the frames of the user's code begin; the form depends on the version of torch, and on
// whether the frame is resumed or left to Python.
std::size_t user_frames_at(std::string_view text) {
  constexpr std::array<std::string_view, 3> kHeads = {
      "User code traceback:", "from user code at:", "in the following user code:"};
  for (const std::string_view head : kHeads) {
    const std::size_t at = text.find(head);
    if (at != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string exception_of(std::string_view traceback) {
  constexpr std::string_view kTraceback = "Traceback (most recent call last)";
  const std::size_t last = traceback.rfind(kTraceback);
  std::string_view raised = trimmed(traceback);
  if (last == std::string_view::npos) {
    raised = raised.substr(std::min(raised.rfind('\n') + 1, raised.size()));
  } else {
    // Below the frames, which are indented.
    raised = traceback.substr(last);
    do {
      raised = raised.substr(std::min(raised.find('\n'), raised.size() - 1) + 1);
    } while (raised.starts_with(' ') || raised.starts_with('\n'));
    raised = trimmed(raised.substr(0, raised.find('\n')));
  }
  // "torch._dynamo.exc.Unsupported: …" without the module.
  const std::string_view type = raised.substr(0, raised.find(':'));
  const std::size_t dot = type.rfind('.');
  const bool has_module = dot != std::string_view::npos && type.find(' ') == std::string_view::npos;
  return std::string(has_module ? raised.substr(dot + 1) : raised);
}

GraphBreak parse_graph_break(std::string_view text) {
  constexpr std::string_view kReason = "Graph Break Reason:";
  GraphBreak found;
  found.where = place_of(line_after(text, "Graph break in user code at "));
  found.hint = line_after(text, "Hint:");
  const std::size_t reason = text.find(kReason);
  const std::size_t stack = user_frames_at(text);
  if (reason != std::string_view::npos) {
    found.reason = line_after(text, kReason);
  } else if (stack != std::string_view::npos) {
    found.reason = exception_of(text.substr(stack));
  }
  if (found.reason.empty()) found.reason = trimmed(text.substr(0, text.find('\n')));
  if (stack != std::string_view::npos) {
    found.stack = frames_of(text.substr(std::min(text.find('\n', stack), text.size())));
  }
  if (found.where.empty() && !found.stack.empty()) {
    found.where = "at " + short_place(found.stack.back().file, found.stack.back().line);
  }
  return found;
}

}  // namespace fathom::analyze
