#include "report/text/session_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "analyze/run/session_bottlenecks.h"
#include "base/format.h"
#include "base/printable.h"
#include "base/table.h"
#include "report/gpu_story.h"
#include "report/headline.h"
#include "report/memory_report.h"
#include "report/recommendations.h"
#include "report/text/bar.h"
#include "report/text/class_table.h"
#include "report/text/more_rows.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

constexpr double kWorthTelling = 0.01;  // of the run: shorter gaps and builds are left to --json
constexpr std::size_t kPartBarColumns = 36;

template <typename Number>
std::string known_duration(const std::optional<Number>& ns) {
  return ns ? base::format_duration(*ns) : "–";
}
std::string known_duration(auto ns) {
  return base::format_duration(ns);
}
std::string bytes(std::int64_t count) {
  return base::format_bytes(static_cast<double>(count));
}
std::string percent(double share) {
  return base::format_percent(share * 100);
}

double share_of_run(const ProfileSession& session, std::int64_t ns) {
  return session.total_ns > 0 ? static_cast<double>(ns) / static_cast<double>(session.total_ns) : 0;
}

std::uint64_t launches(const ProfileSession& session) {
  std::uint64_t count = 0;
  for (const KernelSummary& kernel : session.kernels) count += kernel.calls;
  return count;
}

// Why a run may have nothing to show; of a program that Fathom started, that is news.
constexpr const char* kNothingRecorded =
    "  No GPU work and no scopes were recorded. Fathom records OpenCL calls made through\n"
    "  libOpenCL.so, CUDA calls if an NVIDIA driver is installed, and scopes of the Fathom "
    "library.\n"
    "  This program and its children used none of these.\n";

// Of a file that has no work in it but values over time, as `fathom monitor --record` writes it.
std::optional<std::string> story_of_values(const trace::Trace& trace) {
  const auto series = std::count_if(
      trace.counters.begin(), trace.counters.end(), [&](const trace::Counter& counter) {
        return !trace.names.view(counter.name).ends_with("host memory");
      });
  if (series == 0 || trace.spans.size() > 0) return {};
  return fmt::format(
      "  No GPU work and no scopes in this file, but {}: fathom timeline draws them.\n",
      base::format_plural(static_cast<std::uint64_t>(series), "series of values",
                          "series of values"));
}

std::string story_of_gpus(const RunReport& report) {
  if (report.shares.gpus.empty()) return story_without_work(report.shares);
  return gpu_story(gpus_of(report.shares, report.by_gpu));
}

std::string session_story(const RunReport& report, const trace::Trace& trace, std::size_t width) {
  const ProfileSession& session = report.session;
  if (session.gpu_ns) return wrapped(story_of_gpus(report), "  ", width);
  if (session.scopes.empty()) return story_of_values(trace).value_or(kNothingRecorded);
  std::uint64_t calls = 0;
  for (const auto& [name, scope] : session.scopes) calls += scope.calls;
  return fmt::format(
      "  No GPU work was recorded: {} of {} on {}.\n", base::format_plural(calls, "call", "calls"),
      base::format_plural(session.scopes.size(), "scope", "scopes"),
      base::format_plural(static_cast<std::uint64_t>(std::count_if(
                              trace.tracks.begin(), trace.tracks.end(),
                              [](const trace::Track& track) { return track.span_count > 0; })),
                          "thread", "threads"));
}

// What each part of the time consists of.
std::string note_on(std::string_view part, const ProfileSession& session) {
  if (part == "gpu" && !session.kernels.empty()) {
    return base::format_plural(launches(session), "kernel", "kernels");
  }
  if (part == "transfer" && session.copies > 0) {
    const std::string copies = base::format_plural(session.copies, "copy", "copies");
    return session.copied_bytes ? copies + ", " + bytes(*session.copied_bytes) : copies;
  }
  if (part == "overhead" && session.total_build_ns > 0) {
    return "program builds " + known_duration(session.total_build_ns);
  }
  return {};
}

std::string split(const ProfileSession& session) {
  if (!session.gpu_ns) return {};
  const std::pair<std::string_view, std::int64_t> parts[] = {{"gpu", *session.gpu_ns},
                                                             {"transfer", *session.transfer_ns},
                                                             {"overhead", *session.overhead_ns},
                                                             {"cpu", *session.cpu_ns}};
  std::string text = "\n";
  for (const auto& [name, ns] : parts) {
    const double share = share_of_run(session, ns);
    std::string line = fmt::format("  {:<9} {} {:>8} {:>10}", name, bar(share, kPartBarColumns),
                                   percent(share), known_duration(ns));
    if (const std::string note = note_on(name, session); !note.empty()) line += "   " + note;
    text += line + "\n";
  }
  return text;
}

std::string kernel_table(const ProfileSession& session, std::size_t top, std::size_t width) {
  if (session.kernels.empty()) return {};
  double whole = 0;
  for (const KernelSummary& kernel : session.kernels) whole += kernel.total_ns.value_or(0);
  base::Table table({"kernel", "calls", "total", "mean", "min", "max", "global", "local", "share"});
  const std::size_t shown = std::min(top, session.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelSummary& kernel = session.kernels[i];
    table.row({kernel.name, base::format_count(kernel.calls), known_duration(kernel.total_ns),
               known_duration(kernel.mean_ns()), known_duration(kernel.min_ns),
               known_duration(kernel.max_ns), kernel.global_size.empty() ? "–" : kernel.global_size,
               kernel.local_size.empty() ? "–" : kernel.local_size,
               kernel.total_ns && whole > 0 ? percent(*kernel.total_ns / whole) : "–"});
  }
  return "\n" + table.text(width) + more_rows(session.kernels.size(), shown);
}

std::string scope_table(const ProfileSession& session, std::size_t top, std::size_t width) {
  if (session.scopes.empty()) return {};
  std::vector<const Summaries::value_type*> scopes;
  bool has_parts = false;
  for (const auto& scope : session.scopes) {
    scopes.push_back(&scope);
    has_parts = has_parts || scope.second.gpu_ns;
  }
  std::stable_sort(scopes.begin(), scopes.end(), [](const auto* a, const auto* b) {
    return a->second.total_ns > b->second.total_ns;
  });
  std::vector<std::string> header = {"scope", "calls", "total", "self", "mean"};
  header.insert(header.end(), has_parts ? 4U : 2U, "");
  const std::vector<std::string> rest =
      has_parts ? std::vector<std::string>{"gpu", "transfer", "overhead", "cpu"}
                : std::vector<std::string>{"p50", "p99"};
  std::copy(rest.begin(), rest.end(), header.begin() + 5);
  base::Table table(header);
  const auto part = [](const std::optional<double>& ns) {
    return ns == 0.0 ? std::string("0") : known_duration(ns);
  };
  const std::size_t shown = std::min(top, scopes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, scope] = *scopes[i];
    std::vector<std::string> row = {name, base::format_count(scope.calls),
                                    known_duration(scope.total_ns), known_duration(scope.self_ns),
                                    known_duration(scope.mean_ns())};
    if (has_parts) {
      for (const auto& ns : {scope.gpu_ns, scope.transfer_ns, scope.overhead_ns, scope.cpu_ns}) {
        row.push_back(part(ns));
      }
    } else {
      row.push_back(known_duration(scope.p50_ns));
      row.push_back(known_duration(scope.p99_ns));
    }
    table.row(std::move(row));
  }
  return "\n" + table.text(width) + more_rows(scopes.size(), shown);
}

std::string gap_table(const ProfileSession& session, std::size_t top, std::size_t width) {
  std::size_t rows = 0;
  base::Table table({"GPU idle during", "at", "for", "of the run"});
  for (const IdleGap& gap : session.idle_gaps) {
    const double share = share_of_run(session, gap.duration_ns);
    if (share < kWorthTelling || ++rows > top) continue;
    const std::string during = gap.host.empty()       ? std::string(analyze::kNothingRecorded)
                               : gap.host_share < 0.5 ? gap.host + " and others"
                                                      : gap.host;
    table.row(
        {during, known_duration(gap.start_ns), known_duration(gap.duration_ns), percent(share)});
  }
  return rows == 0 ? std::string() : "\n" + table.text(width) + more_rows(rows, top);
}

std::string build_table(const ProfileSession& session, std::size_t top, std::size_t width) {
  std::size_t rows = 0;
  base::Table table({"program build", "at", "took", "of the run"});
  for (const ProgramBuild& build : session.builds) {
    const double share = share_of_run(session, build.duration_ns);
    if (share < kWorthTelling || ++rows > top) continue;
    table.row({build.call, known_duration(build.start_ns), known_duration(build.duration_ns),
               percent(share)});
  }
  return rows == 0 ? std::string() : "\n" + table.text(width) + more_rows(rows, top);
}

// Of a log, the first lines: the first error is mostly the one.
std::string failed_builds(const ProfileSession& session) {
  constexpr std::size_t kLogLines = 6;
  std::string text;
  for (const FailedBuild& build : session.failed_builds) {
    text += fmt::format("\n  {} failed with error {} at {}\n", build.call, build.error,
                        known_duration(build.start_ns));
    std::istringstream log(build.log);
    std::string line;
    for (std::size_t i = 0; i < kLogLines && std::getline(log, line); ++i) {
      text += "    " + base::printable(line) + "\n";
    }
  }
  return text;
}

std::string failed_calls(const ProfileSession& session, std::size_t top) {
  std::string text;
  const std::size_t shown = std::min(top, session.failed_calls.size());
  for (const FailedCall& failed : std::span(session.failed_calls).first(shown)) {
    text += fmt::format("  {} failed {} with error {}\n", base::printable(failed.call),
                        base::format_plural(failed.calls, "time", "times"), failed.error);
  }
  text += more_rows(session.failed_calls.size(), shown);
  std::size_t rows = 0;
  for (const auto& [name, scope] : session.scopes) {
    if (scope.errors.value_or(0) == 0 || ++rows > top) continue;
    text += fmt::format("  {}: {} of {} ended by an exception\n", base::printable(name),
                        base::format_count(*scope.errors),
                        base::format_plural(scope.calls, "call", "calls"));
  }
  text += more_rows(rows, top);
  return text.empty() ? text : "\n" + text;
}

std::string bottleneck_table(const ProfileSession& session, std::size_t top, std::size_t width) {
  if (session.bottlenecks.empty()) return {};
  base::Table table({"bottleneck", "calls", "self", "share", "cumulative", "spent on"});
  const std::size_t shown = std::min(top, session.bottlenecks.size());
  for (const Bottleneck& each : std::span(session.bottlenecks).first(shown)) {
    table.row({each.operation, each.calls == 0 ? "–" : base::format_count(each.calls),
               known_duration(each.self_ns), percent(each.share), percent(each.cumulative_share),
               each.dominated_by});
  }
  return "\n" + table.text(width) + more_rows(session.bottlenecks.size(), shown);
}

std::string memory_line(const ProfileSession& session) {
  std::vector<std::string> parts;
  if (session.peak_memory_bytes) {
    parts.push_back(bytes(*session.peak_memory_bytes) + " on the device");
  }
  if (session.peak_host_memory_bytes) {
    parts.push_back(bytes(*session.peak_host_memory_bytes) + " on the host");
  }
  if (parts.empty()) return {};
  std::string text = fmt::format("\n  Memory: at most {}.", fmt::join(parts, ", "));
  if (!session.leaks.empty()) text += "\n  " + leak_sentence(session.leaks);
  return text + "\n";
}

}  // namespace

std::string session_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                         std::size_t width, KernelRows kernels) {
  const ProfileSession& session = report.session;
  std::string text = "\n" + headline(report, trace) + "\n" + session_story(report, trace, width);
  text += split(session);
  if (kernels == KernelRows::by_class) {
    text += class_table(report.classes, top, width);
  } else {
    text += kernel_table(session, top, width);
  }
  text += scope_table(session, top, width);
  text += gap_table(session, top, width);
  text += build_table(session, top, width);
  text += failed_builds(session);
  text += failed_calls(session, top);
  text += bottleneck_table(session, top, width);
  text += memory_line(session);
  text += what_to_change(report.suggestions, report.source, top, width);
  return text + "\n";
}

}  // namespace fathom::report
