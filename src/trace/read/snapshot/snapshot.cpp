#include "trace/read/snapshot/snapshot.h"

#include <fmt/format.h>

#include "base/error.h"
#include "trace/read/snapshot/device.h"
#include "trace/read/snapshot/pickle.h"

namespace fathom::trace {
namespace {

constexpr const char* kSnapshotHint =
    "Fathom reads what torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes.";

const char* described(PickleKind kind) {
  switch (kind) {
    case PickleKind::dict:
      return "a dict without segments";
    case PickleKind::list:
    case PickleKind::tuple:
    case PickleKind::set:
      return "a list of other things";
    case PickleKind::text:
    case PickleKind::bytes:
      return "a string";
    case PickleKind::integer:
    case PickleKind::real:
    case PickleKind::boolean:
      return "a number";
    default:
      return "something other than plain data";
  }
}

bool is_segment(const Pickle& pickle, PickleRef value) {
  return pickle.find(value, "blocks") && pickle.find(value, "total_size");
}

// The two lists of a snapshot. Either may be missing, not both.
struct Lists {
  std::optional<PickleRef> segments;
  std::optional<PickleRef> traces;
};

Lists lists_of(const Pickle& pickle) {
  const PickleRef root = pickle.root();
  if (pickle.kind(root) == PickleKind::dict) {
    return {pickle.find(root, "segments"), pickle.find(root, "device_traces")};
  }
  if (pickle.kind(root) != PickleKind::list) return {};
  const auto items = pickle.items(root);
  if (items.empty() || !is_segment(pickle, items[0])) return {};
  return {root, std::nullopt};
}

[[noreturn]] void refuse(const std::string& name, const Pickle& pickle) {
  if (!pickle.first_refused().empty()) {
    throw base::Error(name,
                      fmt::format("not a memory snapshot: a pickle that calls {} (nothing was run)",
                                  pickle.first_refused()),
                      kSnapshotHint);
  }
  if (pickle.end() != PickleEnd::whole) {
    throw base::Error(name, fmt::format("a pickle that is {} at byte {} before any memory event",
                                        pickle.end() == PickleEnd::cut_off ? "cut off" : "damaged",
                                        pickle.position()));
  }
  throw base::Error(
      name,
      fmt::format("not a memory snapshot: a pickle of {}", described(pickle.kind(pickle.root()))),
      kSnapshotHint);
}

void add_warnings(const Pickle& pickle, Warnings& warnings) {
  if (pickle.end() == PickleEnd::cut_off) {
    warnings.add(WarningKind::cut_off, pickle.position());
  } else if (pickle.end() == PickleEnd::damaged) {
    warnings.add(WarningKind::bad_event, pickle.position());
  }
  if (pickle.refused_calls() > 0) {
    warnings.add(WarningKind::refused_call, kNowhere, pickle.refused_calls());
  }
}

}  // namespace

Trace read_snapshot(const std::shared_ptr<const Input>& input) {
  const Pickle pickle(input->view());
  const Lists lists = lists_of(pickle);
  if (!lists.segments && !lists.traces) refuse(input->name(), pickle);
  std::vector<TracePart> parts(1);
  SnapshotReader reader(pickle, *input, parts[0]);
  if (lists.segments) reader.read_segments(*lists.segments);
  if (lists.traces) reader.read_traces(*lists.traces);
  reader.finish();
  if (const auto annotations = pickle.find(pickle.root(), "external_annotations")) {
    reader.read_annotations(*annotations);
  }
  add_warnings(pickle, parts[0].warnings);
  RunInfo run;
  run.format = "PyTorch memory snapshot";
  if (reader.has_times()) run.base_time_ns = 0;
  return assemble(std::move(parts), std::move(run));
}

}  // namespace fathom::trace
