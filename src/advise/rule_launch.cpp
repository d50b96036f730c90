#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/late_launches.h"
#include "advise/rules.h"
#include "analyze/operations/steps.h"
#include "analyze/run/gpu_shares.h"
#include "base/format.h"
#include "trace/framework_names.h"

// Trigger  The GPU is idle for over 5 % of the run in gaps that end with work launched only
//          after the gap had begun, not counting what another rule sees a cause for in them. From
//          30 % on, and where launches are further apart than kernels are long (medians), the run
//          is bound by its launches. What to do depends on how it launches: a server that runs
//          eagerly, compiled code that is not captured, plain code, or graphs with too much between
//          them. Not said where nearly all of the trace is set-up.
// Edit     What the host does between launches, and the launches, take 50, 20 and 0 % of the time:
//          compiled, captured as one graph per step, captured without a gap. Where the run is not
//          bound by its launches, or in graphs already: 75, 50 and 10 %. Not edited: loading data,
//          waiting, set-up, long operations in long gaps (`idle`). No more is claimed than the
//          gaps took.
namespace fathom::advise {
namespace {

constexpr double kLaunchTriggerPct = 5;

enum class Eager : std::uint8_t {
  in_places,
  plain,
  compiled,
  compiled_for_many_shapes,
  server,
  replays,  // not eager: most work is in graphs already
};

Eager how_eager(const Facts& facts, const LateLaunches& late, const LaunchPace& pace) {
  const bool is_bound = facts.share(late.total_ns) >= analyze::kLaunchBoundPct &&
                        pace.median_apart_ns > pace.median_kernel_ns;
  if (2 * pace.of_graphs > pace.work && facts.platform.server == Server::none) {
    return Eager::replays;
  }
  if (!is_bound) return Eager::in_places;
  if (facts.platform.server != Server::none && pace.graphs == 0) return Eager::server;
  if (pace.compiled * 2 <= pace.launches || pace.graphs > 0) return Eager::plain;
  return pace.shapes_vary ? Eager::compiled_for_many_shapes : Eager::compiled;
}

std::string title_of(const Platform& platform, Eager eager) {
  switch (eager) {
    case Eager::in_places:
      return platform.server == Server::none
                 ? "Launch sooner: the GPU runs out of work in places"
                 : "Prepare the next step while the GPU works on this one";
    case Eager::server:
      return platform.server == Server::vllm ? "Let vLLM replay graphs: it runs eagerly"
                                             : "Let SGLang replay graphs: it runs eagerly";
    case Eager::compiled:
      return "Capture the compiled code as graphs";
    case Eager::compiled_for_many_shapes:
      return "Pad inputs to a few sizes, then capture the compiled code as graphs";
    case Eager::replays:
      return "Launch the next graph before handling what this one computed";
    case Eager::plain:
      break;
  }
  if (platform.is_pytorch) return "Launch less: compile the model or replay it as a graph";
  const bool has_graphs = platform.runtime == Runtime::cuda || platform.runtime == Runtime::hip;
  return has_graphs ? "Launch less: fewer, larger kernels, or a captured graph"
                    : "Launch less: fewer, larger kernels";
}

std::string server_hint(Server server) {
  if (server == Server::vllm) {
    return "Start vLLM without --enforce-eager. It captures graphs for a list of batch sizes, in "
           "tokens: larger batches still run eagerly, so let the list cover yours.\n"
           "vllm serve MODEL --compilation-config '{\"cudagraph_capture_sizes\": [1, 2, 4, 8, 16, "
           "32, 64, 128, 256, 512, 1024]}'";
  }
  return "Start SGLang without --disable-cuda-graph, and let graphs cover the batch sizes you "
         "serve.\n"
         "python3 -m sglang.launch_server --model-path MODEL --cuda-graph-max-bs 256";
}

// A server that replays graphs leaves the GPU idle between them.
std::string next_step_hint(Server server) {
  if (server == Server::vllm) {
    return "Let the scheduler run ahead of the GPU, and keep what is done per step on the host "
           "small (logits processors, structured output, streaming).\n"
           "vllm serve MODEL --async-scheduling  # recent versions do where they can";
  }
  return "Let the scheduler run ahead of the GPU, as SGLang does unless it is started with "
         "--disable-overlap-schedule, and keep what is done per step on the host small.";
}

std::string plain_hint(const Platform& platform) {
  const std::string hint = hint_for(
      platform,
      {.words = "Fewer or cheaper launches: larger batches, several operations in "
                "one kernel",
       .pytorch = ", a compiled model or a captured graph.\n"
                  "model = torch.compile(model, mode=\"reduce-overhead\")  # captures graphs",
       .jax = ", the whole step under one jit, whose kernels XLA captures as graphs.\n"
              "step = jax.jit(step, donate_argnums=0)\n"
              "XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUDNN,CUSTOM_CALL",
       .cuda = ", a captured graph.\n"
               "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // once, around the "
               "launches\n"
               "cudaGraphLaunch(exec, stream);  // then one call for all of them",
       .opencl =
           ", one NDRange over all parts instead of one per part.\n"
           "clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all_items, NULL, 0, NULL, NULL);\n"
           "clFlush(queue);  // the device starts while the host continues"});
  return hint + fused_optimizer_line(platform);
}

std::string launch_hint(const Platform& platform, Eager eager) {
  switch (eager) {
    case Eager::server:
      return server_hint(platform.server);
    case Eager::compiled:
      return "The code is compiled, but the host still launches its kernels one by one.\n"
             "model = torch.compile(model, mode=\"reduce-overhead\")  # captures graphs";
    case Eager::compiled_for_many_shapes:
      return "A graph holds for one shape. Pad batches and sequences to a few sizes, so that there "
             "is one graph for each.\n"
             "model = torch.compile(model, mode=\"reduce-overhead\", dynamic=False)";
    case Eager::replays:
      return "Most of the GPU work is in captured graphs: what is left is the host between them. "
             "Launch the next graph first and handle the results while it runs, or handle them in "
             "another thread.";
    case Eager::in_places:
      if (platform.server != Server::none) return next_step_hint(platform.server);
      return plain_hint(platform);
    default:
      return plain_hint(platform);
  }
}

const char* supposition(Eager eager) {
  switch (eager) {
    case Eager::in_places:
      return "if the host launches the same work in half the time";
    case Eager::replays:
      return "if the host takes half the time between graphs";
    default:
      return "if the host launches the same work in a fifth of the time";
  }
}

// "Optimizer.step#SGD.step": the outermost operation or range around a launch that is neither a
// step nor most of the run.
trace::NameId place_of(const Facts& facts, SpanId launch) {
  SpanId found = launch;
  for (SpanId at = facts.spans.parent[launch]; at != kNoSpan; at = facts.spans.parent[at]) {
    const SpanKind kind = facts.spans.kind[at];
    const bool is_named =
        kind == SpanKind::annotation || kind == SpanKind::cpu_op || kind == SpanKind::scope;
    if (facts.spans.duration_ns[at] * 2 > facts.wall_ns) break;
    if (is_named && !facts.trace.name(at).starts_with(trace::kStepName)) found = at;
  }
  return facts.spans.name[found];
}

// Where most of it happens, if that is one place.
std::string where_most(const Facts& facts, const LateLaunches& late) {
  std::map<trace::NameId, std::int64_t> by_place;
  for (const LateLaunch& one : late.all) by_place[place_of(facts, one.launch)] += one.gap_ns;
  const auto most =
      std::max_element(by_place.begin(), by_place.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const double part = static_cast<double>(most->second) / static_cast<double>(late.total_ns) * 100;
  constexpr double kMostPct = 30;
  const std::string_view place = facts.trace.names.view(most->first);
  if (part < kMostPct || analyze::call_role(place) != CallRole::other) return {};
  return fmt::format(" {} of that is in {}.", base::format_percent(part),
                     base::fit(trace::without_engine(place), 60));
}

std::string launch_seen(const Facts& facts, const LateLaunches& late, const LaunchPace& pace,
                        Eager eager) {
  std::string text = fmt::format(
      "The GPU was idle for {} of the run ({} in {}) because the next work had not been launched "
      "yet. The host made {}, {} apart; a kernel takes {} (medians).",
      base::format_percent(facts.share(late.total_ns)),
      base::format_duration(static_cast<double>(late.total_ns)),
      base::format_plural(late.all.size(), "gap", "gaps"),
      base::format_plural(pace.launches, "launch", "launches"),
      base::format_duration(static_cast<double>(pace.median_apart_ns)),
      base::format_duration(static_cast<double>(pace.median_kernel_ns)));
  if (eager == Eager::in_places) text += where_most(facts, late);
  if (facts.records_many_stacks()) {
    text += " Stacks were recorded, which slows the host down: without them it is less.";
  }
  return text;
}

}  // namespace

Candidates rule_launch(const Facts& facts) {
  if (facts.is_a_start()) return {};
  const LateLaunches late = late_launches(facts);
  if (late.all.empty() || facts.share(late.total_ns) < kLaunchTriggerPct) return {};
  const LaunchPace pace = launch_pace(facts);
  const Eager eager = how_eager(facts, late, pace);
  std::vector<SpanId> launches;
  for (const LateLaunch& one : late.all) launches.push_back(one.launch);
  Candidate found = found_by("launch", SuggestionType::parallelization, late.total_ns);
  found.words.operation = facts.trace.name(launches.front());
  found.words.title = title_of(facts.platform, eager);
  found.words.description = launch_seen(facts, late, pace, eager);
  const bool is_bound = eager != Eager::in_places && eager != Eager::replays;
  found.supposes = supposition(eager);
  found.words.implementation_hint = launch_hint(facts.platform, eager);
  show_in_order(found.words, std::move(launches));
  std::vector<bool> dispatches(facts.on.host.span.size());  // by piece; it is edited many times
  for (const std::uint32_t thread : facts.plan.threads) {
    const analyze::HostThread& line = facts.on.host.threads[thread];
    for (std::size_t i = line.first; i < line.last; ++i) dispatches[i] = is_dispatch(facts, i);
  }
  found.edit = [&facts, is_bound, dispatches](Edits& edits, Effort effort) {
    const double factor = is_bound ? pick(effort, 0.5, 0.2, 0.0) : pick(effort, 0.75, 0.5, 0.1);
    for (std::size_t i = 0; i < dispatches.size(); ++i) {
      if (dispatches[i]) scale_piece(edits, facts.plan, i, factor);
    }
  };
  return {found};
}

}  // namespace fathom::advise
