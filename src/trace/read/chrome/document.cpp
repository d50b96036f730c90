#include "trace/read/chrome/document.h"

#include <array>

namespace fathom::trace {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxHeadingBytes = 4U << 20;

// Keys of the outermost object that say something about the run.
constexpr std::array<std::string_view, 8> kHeadingKeys = {
    "schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
    "traceName",     "displayTimeUnit",  "trace_id",        "otherData"};

bool is_heading_key(std::string_view key) {
  for (const std::string_view known : kHeadingKeys) {
    if (key == known) return true;
  }
  return false;
}

}  // namespace

DocumentForm form_of(std::string_view head) {
  Warnings ignored;
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  TolerantScanner scan(head, 0, ignored);
  scan.skip_spaces();
  if (scan.here() == '[') return DocumentForm::array;
  ++scan.position;
  while (true) {
    scan.skip_spaces();
    if (scan.here() == ',') ++scan.position;
    scan.skip_spaces();
    std::string_view key;
    if (scan.read_key(key) != Reading::ok || key == "traceEvents") return DocumentForm::object;
    if (key == "ph") return DocumentForm::lines;
    Token value;
    if (scan.read_value(value) != Reading::ok) return DocumentForm::object;
  }
}

void DocumentScanner::begin_among_events(bool needs_comma) {
  level_ = Level::events;
  needs_comma_ = needs_comma;
  after_comma_ = false;
  batch_.has_event_list = true;
}

DocumentEnd DocumentScanner::find_events() {
  return run(true, {});
}

DocumentEnd DocumentScanner::read_all(std::span<const std::uint64_t> stops) {
  return run(false, stops);
}

DocumentEnd DocumentScanner::run(bool until_events, std::span<const std::uint64_t> stops) {
  while (true) {
    scan_.skip_spaces();
    if (scan_.at_end()) {
      if (level_ == Level::events) return DocumentEnd::between_events;
      return level_ == Level::outside ? DocumentEnd::after : DocumentEnd::inside;
    }
    if (level_ == Level::events) {
      if (until_events) return DocumentEnd::at_events;
      while (!stops.empty() && stops[0] < scan_.byte()) stops = stops.subspan(1);
      if (!stops.empty() && stops[0] == scan_.byte()) return DocumentEnd::at_stop;
    }
    const bool goes_on = level_ == Level::events ? step_events()
                         : level_ == Level::keys ? step_keys()
                                                 : step_outside();
    if (!goes_on) return DocumentEnd::inside;
  }
}

bool DocumentScanner::step_outside() {
  if (scan_.byte() == 0 && scan_.text().starts_with(kByteOrderMark)) {
    scan_.position += kByteOrderMark.size();
    return true;
  }
  const char c = scan_.here();
  if (c == '[' || (c == '{' && form_ == DocumentForm::lines)) {
    if (c == '[') ++scan_.position;
    begin_among_events();
  } else if (c == '{') {
    ++scan_.position;
    level_ = Level::keys;
  } else if (c == ',' || c == ']' || c == '}') {
    scan_.warn(WarningKind::bad_comma);
    ++scan_.position;
  } else {
    recover();
  }
  return true;
}

bool DocumentScanner::step_keys() {
  const char c = scan_.here();
  if (c == '}') {
    ++scan_.position;
    level_ = Level::outside;
    return true;
  }
  if (c == ',') {
    ++scan_.position;
    return true;
  }
  std::string_view key;
  const Reading read = scan_.read_key(key);
  if (read == Reading::cut_off) return false;
  if (read == Reading::wrong) {
    recover();
    return true;
  }
  if (key == "traceEvents" && scan_.here() == '[') {
    ++scan_.position;
    begin_among_events();
    return true;
  }
  return step_heading(key);
}

bool DocumentScanner::step_heading(std::string_view key) {
  const std::size_t begin = scan_.position;
  Token value;
  const Reading read = scan_.read_value(value);
  if (read == Reading::cut_off) return false;
  if (read == Reading::wrong) {
    recover();
    return true;
  }
  const std::string_view json = scan_.text().substr(begin, scan_.position - begin);
  if (is_heading_key(key) && json.size() <= kMaxHeadingBytes) {
    batch_.heading.push_back({std::string(key), std::string(json)});
  }
  return true;
}

bool DocumentScanner::step_events() {
  const bool is_lines = form_ == DocumentForm::lines;
  switch (scan_.here()) {
    case ',':
      if (!needs_comma_) scan_.warn(WarningKind::bad_comma);
      needs_comma_ = false;
      after_comma_ = true;
      ++scan_.position;
      return true;
    case ']':
      if (after_comma_) scan_.warn(WarningKind::bad_comma);
      after_comma_ = false;
      ++scan_.position;
      level_ = form_ == DocumentForm::object ? Level::keys : Level::outside;
      return true;
    case '}':
      // The list of events lacks its end.
      scan_.warn(WarningKind::bad_event);
      ++scan_.position;
      level_ = Level::outside;
      return true;
    default:
      if (needs_comma_ && !is_lines) scan_.warn(WarningKind::bad_comma);
      after_comma_ = false;
      needs_comma_ = true;
      return step_event();
  }
}

bool DocumentScanner::step_event() {
  const std::size_t begin = scan_.position;
  const std::uint64_t byte = scan_.byte();
  Reading read = Reading::ok;
  if (scan_.here() == '{') {
    read = scan_.read_event(event_);
    if (read == Reading::ok) rows_.take(event_);
  } else {
    Token value;
    read = scan_.read_value(value);
    const bool is_null = value.is_present() && !value.is_quoted && value.text() == "null";
    if (read == Reading::ok && is_null) read = Reading::empty;
    if (read == Reading::ok) batch_.warnings.add(WarningKind::bad_event, byte);
  }
  if (read == Reading::empty) batch_.warnings.add(WarningKind::null_event, byte);
  if (read == Reading::wrong) recover();
  if (read == Reading::cut_off) scan_.position = begin;
  return read != Reading::cut_off;
}

// After something that makes no sense, go on with the next event that does.
void DocumentScanner::recover() {
  scan_.warn(WarningKind::bad_event);
  scan_.find_next_event();
  level_ = Level::events;
  needs_comma_ = after_comma_ = false;
}

}  // namespace fathom::trace
