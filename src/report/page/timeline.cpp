#include "report/page/timeline.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analyze/hta/gpu_work.h"
#include "base/json_writer.h"
#include "report/page/counters.h"
#include "report/page/layout.h"
#include "report/page/links.h"
#include "report/page/packed.h"
#include "report/page/part.h"
#include "report/page/path.h"
#include "trace/track_label.h"

namespace fathom::report {
namespace {

using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kInstantColumns = 4000;
constexpr std::uint8_t kNoClass = UINT8_MAX;

struct Columns {
  std::string gaps, durations, labels, launches, links;
};

class Writer {
 public:
  Writer(const explain::Analysis& analysis, std::size_t most_spans)
      : trace_(analysis.trace()),
        gpu_work_(analysis.gpu_work()),
        steps_(analysis.steps()),
        layout_(page_layout(trace_, most_spans)),
        extent_(page_extent(trace_)),
        begin_ns_(extent_.begin_ns) {
    knows_kinds_ = std::any_of(trace_.spans.kind.begin(), trace_.spans.kind.end(),
                               [](SpanKind kind) { return kind != SpanKind::other; });
  }

  std::string timeline() {
    write_columns();
    write_links();
    std::string out;
    append_column(out, write_head());
    for (const std::string* column : {&columns_.gaps, &columns_.durations, &columns_.labels,
                                      &columns_.launches, &columns_.links}) {
      append_column(out, *column);
    }
    return out;
  }

  const PageLayout& layout() const { return layout_; }

 private:
  void write_columns() {
    std::vector<SpanId> launch(trace_.spans.size(), trace::kNoSpan);
    classes_.assign(trace_.spans.size(), kNoClass);
    for (const analyze::WorkRow& work : gpu_work_.rows) {
      launch[work.span] = work.launch;
      classes_[work.span] = static_cast<std::uint8_t>(work.kernel_class);
    }
    std::int64_t last_launch = 0;
    for (const PageTrack& track : layout_.tracks) {
      for (const PageRow& row : track.rows) {
        std::int64_t end = begin_ns_;
        for (std::uint32_t at = row.first; at < row.first + row.count; ++at) {
          const SpanId id = layout_.order[at];
          append_signed(columns_.gaps, trace_.spans.start_ns[id] - end);
          append_number(columns_.durations,
                        static_cast<std::uint64_t>(trace_.spans.duration_ns[id]));
          append_number(columns_.labels, label_of_span(id));
          end = trace_.spans.end_ns(id);
          if (trace::is_gpu_work(trace_.spans.kind[id])) add_launch(launch[id], last_launch);
        }
      }
    }
  }

  void write_links() {
    std::int64_t last_from = 0;
    std::int64_t last_to = 0;
    for (const PageLink& link : page_links(trace_)) {
      const std::int64_t from = layout_.place[link.from];
      const std::int64_t to = layout_.place[link.to];
      if (from == kNoPlace || to == kNoPlace) continue;
      append_signed(columns_.links, from - last_from);
      append_signed(columns_.links, to - last_to);
      last_from = from;
      last_to = to;
    }
  }

  void add_launch(SpanId launch, std::int64_t& last) {
    if (launch == trace::kNoSpan) return append_number(columns_.launches, 0);
    const std::int64_t place = std::int64_t{layout_.place[launch]} + 1;
    append_number(columns_.launches, 1);
    append_signed(columns_.launches, place - last);
    last = place;
  }

  std::uint32_t label_of_span(SpanId id) {
    const trace::NameId name = trace_.spans.name[id];
    const SpanKind kind = trace_.spans.kind[id];
    const std::uint8_t found = classes_[id];
    const std::uint64_t key =
        std::uint64_t{name} << 16 | std::uint64_t{found} << 8 | static_cast<unsigned>(kind);
    const auto [at, is_new] =
        label_ids_.try_emplace(key, static_cast<std::uint32_t>(label_ids_.size()));
    if (is_new) {
      base::JsonWriter json(labels_);
      if (!labels_.empty()) labels_ += ',';
      json.begin_array().value(trace_.names.view(name)).value(trace::name_of(kind));
      if (kind == SpanKind::annotation) {
        json.value("idle").value("");  // a frame, in a lane of its own
      } else if (found == kNoClass) {
        json.value(page_part(kind, trace_.names.view(name), knows_kinds_)).value("");
      } else {
        const auto kernel_class = static_cast<analyze::KernelClass>(found);
        json.value(page_part(kernel_class)).value(name_of(kernel_class));
      }
      json.end_array();
    }
    return at->second;
  }

  std::string write_head() const {
    std::string head;
    base::JsonWriter json(head);
    json.begin_object().key("begin_ns").value(begin_ns_);
    json.key("length_ns").value(extent_.length_ns());
    json.key("least_host_ns").value(layout_.least_host_ns);
    json.key("spans").value(layout_.order.size());
    json.key("labels").raw("[" + labels_ + "]").key("tracks").begin_array();
    for (const PageTrack& placed : layout_.tracks) {
      const trace::Track& track = trace_.tracks[placed.track];
      json.begin_object().key("name").value(trace::label_of(track));
      json.key("short_name").value(trace::short_label_of(track));
      json.key("process").value(track.process_name).key("gpu");
      if (track.kind == trace::TrackKind::gpu_stream) {
        json.value(trace::gpu_label_of(track));
      } else {
        json.null();
      }
      json.key("annotations").value(placed.lane == PageLane::annotations);
      json.key("frames").value(placed.frames).key("quiet").value(placed.is_quiet);
      json.key("rows").begin_array();
      for (const PageRow& row : placed.rows) json.value(row.count);
      json.end_array().end_object();
    }
    json.end_array().key("steps").begin_array();
    for (const SpanId id : steps_) json.value(layout_.place[id]);
    json.end_array().key("counters");
    write_counters(json, trace_, gpu_work_, begin_ns_);
    write_instants(json);
    json.end_object();
    return head;
  }

  // Of those of a track that would stand on one pixel column of a wide screen, the first.
  void write_instants(base::JsonWriter& json) const {
    json.key("instants").begin_array();
    const std::int64_t column_ns = extent_.length_ns() / kInstantColumns + 1;
    std::vector<std::size_t> places(trace_.tracks.size(), layout_.tracks.size());
    for (std::size_t i = 0; i < layout_.tracks.size(); ++i) {
      std::size_t& place = places[layout_.tracks[i].track];  // the lane of the work, if it has one
      if (place == layout_.tracks.size() || layout_.tracks[i].lane == PageLane::work) place = i;
    }
    std::set<std::pair<std::size_t, std::int64_t>> taken;
    for (const trace::Instant& instant : trace_.instants) {
      const std::size_t track = places[instant.track];
      const std::int64_t at = instant.time_ns - begin_ns_;
      if (track == layout_.tracks.size() || at < 0 || instant.time_ns > extent_.end_ns) continue;
      if (!taken.emplace(track, at / column_ns).second) continue;
      json.begin_array().value(track).value(trace_.names.view(instant.name)).value(at).end_array();
    }
    json.end_array();
  }

  const trace::Trace& trace_;
  const analyze::GpuWork& gpu_work_;
  const std::vector<SpanId>& steps_;
  PageLayout layout_;
  PageExtent extent_;
  std::int64_t begin_ns_ = 0;
  bool knows_kinds_ = false;
  std::vector<std::uint8_t> classes_;  // of GPU work, by span
  Columns columns_;
  std::string labels_;
  std::unordered_map<std::uint64_t, std::uint32_t> label_ids_;
};

// Who looks at a span's arguments mostly looks at a long one, or at a step.
constexpr std::size_t kMostArgs = 20'000;

std::string write_args(const trace::Trace& trace, const PageLayout& layout,
                       std::size_t most_bytes) {
  std::vector<SpanId> spans;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const bool has_args = trace.args_at && trace.spans.source[id] != trace::kNoSource;
    if (has_args && layout.place[id] != kNoPlace) spans.push_back(id);
  }
  const auto comes_first = [&](SpanId a, SpanId b) {
    const bool step_a = trace.spans.kind[a] == SpanKind::annotation;
    const bool step_b = trace.spans.kind[b] == SpanKind::annotation;
    if (step_a != step_b) return step_a;
    return trace.spans.duration_ns[a] > trace.spans.duration_ns[b];
  };
  const std::size_t most = std::min(kMostArgs, spans.size());
  std::partial_sort(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(most), spans.end(),
                    comes_first);
  std::string args;
  base::JsonWriter json(args);
  json.begin_object();
  for (std::size_t i = 0; i < most && args.size() < most_bytes; ++i) {
    const std::string text = trace.args(spans[i]);
    if (text.empty() || text.size() > most_bytes / 16) continue;
    json.key(std::to_string(layout.place[spans[i]])).value(text);
  }
  json.end_object();
  return args;
}

}  // namespace

PageExtent page_extent(const trace::Trace& trace) {
  PageExtent extent = {INT64_MAX, INT64_MIN};
  const auto include = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    extent.begin_ns = std::min(extent.begin_ns, begin_ns);
    extent.end_ns = std::max(extent.end_ns, end_ns);
  };
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    include(trace.spans.start_ns[id], trace.spans.end_ns(id));
  }
  for (const trace::Counter& counter : trace.counters) {
    if (!counter.time_ns.empty()) include(counter.time_ns.front(), counter.time_ns.back());
  }
  for (const trace::MemoryEvent& event : trace.memory) include(event.time_ns, event.time_ns);
  return extent.begin_ns > extent.end_ns ? PageExtent() : extent;
}

PageData page_timeline(const explain::Analysis& analysis, const TimelineSize& size) {
  Writer writer(analysis, size.most_spans);
  PageData data = {{"timeline", writer.timeline()}};
  const PageLayout& layout = writer.layout();
  data.emplace_back("args", write_args(analysis.trace(), layout, size.most_args_bytes));
  std::string path = page_path(analysis, layout, page_extent(analysis.trace()).begin_ns);
  if (!path.empty()) data.emplace_back("critical_path", std::move(path));
  return data;
}

}  // namespace fathom::report
