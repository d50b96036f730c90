#include "advise/preparation.h"

#include <algorithm>
#include <array>

#include "base/contains.h"

namespace fathom::advise {
namespace {

using base::Interval;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kLeastGapNs = 10'000'000;

std::vector<bool> names_that_prepare(const trace::Trace& trace) {
  std::vector<bool> found(trace.names.size());
  for (trace::NameId id = 0; id < found.size(); ++id) {
    found[id] = prepares_data(trace.names.view(id));
  }
  return found;
}

struct Within {
  SpanId outermost = kNoSpan;  // that is all in the gap
  bool prepares = false;       // one of them, from the piece's own up to the outermost
};

Within look_up(const Facts& facts, const std::vector<bool>& prepares, SpanId span, Interval gap) {
  Within found{span, false};
  for (SpanId at = span; at != kNoSpan; at = facts.spans.parent[at]) {
    const bool is_inside =
        facts.spans.start_ns[at] >= gap.begin && facts.spans.end_ns(at) <= gap.end;
    if (!is_inside && at != span) break;
    const bool is_python = facts.spans.kind[at] == SpanKind::python;
    found.prepares |= is_python && prepares[facts.spans.name[at]];
    found.outermost = at;
  }
  return found;
}

}  // namespace

bool prepares_data(std::string_view function) {
  constexpr std::array<std::string_view, 24> kParts = {"PIL/",
                                                       "PIL.",
                                                       " Imaging",
                                                       "numpy/",
                                                       "numpy.",
                                                       "scipy/",
                                                       "scipy.",
                                                       "cv2",
                                                       "pyav",
                                                       "/av/",
                                                       " av.",
                                                       "decord",
                                                       "imageio",
                                                       "skimage/",
                                                       "albumentations/",
                                                       "librosa/",
                                                       "soundfile",
                                                       "torchaudio/",
                                                       "torchvision/transforms",
                                                       "transformers/image_",
                                                       "/image_processing_",
                                                       "/feature_extraction_",
                                                       "transformers/feature_extraction_",
                                                       "transformers/tokenization_"};
  return function.starts_with("av/") ||
         std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return base::contains(function, part); });
}

std::string_view short_function_name(std::string_view function) {
  for (const std::string_view begin : {"<built-in method ", "<built-in function "}) {
    if (!function.starts_with(begin)) continue;
    function.remove_prefix(begin.size());
    return function.substr(0, function.find_first_of(" >"));
  }
  const std::size_t colon = function.rfind("): ");
  return colon == function.npos ? function : function.substr(colon + 3);
}

std::vector<PreparationPiece> preparation_pieces(const Facts& facts) {
  std::vector<PreparationPiece> found;
  const std::vector<bool> prepares = names_that_prepare(facts.trace);
  if (std::find(prepares.begin(), prepares.end(), true) == prepares.end()) return found;
  const analyze::HostLines& host = facts.on.host;
  for (const std::uint32_t thread : facts.plan.threads) {
    for (const Interval& gap : facts.long_gaps) {
      if (gap.length() < kLeastGapNs) continue;
      const auto [first, last] = pieces_touching(host, thread, gap);
      for (std::size_t i = first; i < last; ++i) {
        const SpanId span = host.span[i];
        if (span == kNoSpan || facts.loads_data(span) || facts.is_wait(span)) continue;
        const Within within = look_up(facts, prepares, span, gap);
        if (!within.prepares) continue;
        const std::int64_t time =
            std::min(host.start_ns[i + 1], gap.end) - std::max(host.start_ns[i], gap.begin);
        found.push_back({i, within.outermost, time});
      }
    }
  }
  return found;
}

}  // namespace fathom::advise
