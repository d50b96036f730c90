// How the texts of events become numbers: names, categories and tracks. Each is looked up once for
// every event, so what has been seen is found again by its characters alone.

#include <cstring>

#include "base/json_text.h"
#include "trace/read/chrome/rows.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;

template <typename Number>
std::uint64_t load(const char* from) {
  Number value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

EventRows::SmallText EventRows::small_text(const Token& token) {
  const std::size_t size = token.size;
  const char* const at = token.begin;
  SmallText small;
  small.size = token.is_present() ? size * 2 + (token.is_quoted ? 1 : 0) : UINT64_MAX - 1;
  if (!token.is_present() || size == 0) return small;
  if (size >= 8) {
    small.low = load<std::uint64_t>(at);
    small.high = load<std::uint64_t>(at + size - 8);
  } else if (size >= 4) {
    small.low = load<std::uint32_t>(at);
    small.high = load<std::uint32_t>(at + size - 4);
  } else {
    small.low = load<std::uint8_t>(at);
    small.high = load<std::uint8_t>(at + size / 2) << 8 | load<std::uint8_t>(at + size - 1);
  }
  return small;
}

const Category& EventRows::category(const Event& event) {
  if (event.category.begin == last_category_begin_ && event.source == last_category_source_) {
    return *last_category_;
  }
  last_category_begin_ = event.category.begin;
  last_category_source_ = event.source;
  last_category_ = &find_category(event);
  return *last_category_;
}

const Category& EventRows::find_category(const Event& event) {
  if (event.category.is_present() && event.category.size > 16) {
    const auto [at, is_new] = long_categories_.try_emplace(std::string(event.category.text()));
    if (is_new) at->second = category_of(event.category.text());
    return at->second;
  }
  const SmallText text = small_text(event.category);
  CategorySlot& slot = categories_[((text.low ^ text.high) * kMix + text.size) >> 58];
  if (slot.text != text) {
    slot = {text, category_of(event.category.text())};
  }
  return slot.category;
}

const EventRows::KnownName& EventRows::name(const Token& token, std::uint64_t source) {
  const std::string_view raw = token.text();
  const base::StringId id = raw_names_.intern(raw);
  while (known_names_.size() <= id) {
    const std::string_view fresh = raw_names_.view(static_cast<NameId>(known_names_.size()));
    KnownName known;
    known.bad_escapes = static_cast<std::uint32_t>(base::unescape(fresh, scratch_));
    known.id = part_.names.intern(scratch_);
    known.is_step = scratch_.starts_with("ProfilerStep#");
    known_names_.push_back(known);
  }
  const KnownName& known = known_names_[id];
  if (known.bad_escapes > 0)
    batch_->warnings.add(WarningKind::bad_escape, source, known.bad_escapes);
  return known;
}

std::string EventRows::text(const Token& token, std::uint64_t source) {
  std::string out;
  const std::size_t bad = base::unescape(token.text(), out);
  if (bad > 0) batch_->warnings.add(WarningKind::bad_escape, source, bad);
  return out;
}

Place EventRows::place(const Token& token, std::uint64_t source) {
  Place place;
  if (token.is_null()) return place;
  if (const auto number = parse_integer(token.text())) {
    place.number = *number;
  } else {
    place.text = text(token, source);
  }
  return place;
}

TrackId EventRows::track(const Event& event, bool on_gpu) {
  SmallText pid = small_text(event.pid);
  const SmallText tid = small_text(event.tid);
  const bool is_exact = (event.pid.size <= 16 || !event.pid.is_present()) &&
                        (event.tid.size <= 16 || !event.tid.is_present());
  if (on_gpu) pid.size ^= std::uint64_t{1} << 62;
  const std::uint64_t hash = (pid.low + pid.size + (tid.low ^ tid.high * 31) * 7) * kMix;
  TrackSlot& slot = tracks_[hash >> 56];
  if (is_exact && slot.pid == pid && slot.tid == tid) return slot.track;

  const Place process = place(event.pid, event.source);
  const Place thread = place(event.tid, event.source);
  const TrackKind kind = on_gpu ? TrackKind::gpu_stream : TrackKind::thread;
  const TrackId id = part_.track(kind, process.number, thread.number, process.text, thread.text);
  if (is_exact) slot = {pid, tid, id};
  return id;
}

// One a (process, category, id), as the format has it.
TrackId EventRows::async_track(const Event& event) {
  const Place process = place(event.pid, event.source);
  std::string category = event.category.is_present() ? text(event.category, event.source) : "";
  const auto id = event.id.is_present() ? parse_id(event.id.text()) : 0;
  return part_.track(TrackKind::async, process.number, static_cast<std::int64_t>(id), process.text,
                     category);
}

}  // namespace fathom::trace
