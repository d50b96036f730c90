#include "trace/read/chrome/chrome.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "trace/read.h"
#include "trace/read/chrome/args.h"
#include "trace/read/chrome/blocks.h"
#include "trace/read/chrome/document.h"
#include "trace/read/chrome/fast.h"
#include "trace/read/chrome/finish.h"
#include "trace/read/chrome/run.h"

// The file is cut into blocks at places where an event seems to begin, and threads read the blocks
// independently. A block is right if it begins at an event; it begins at an event if the block
// before is right and its scanner arrived there between two events. The first begins where the file
// does. So all are verified one by one, and where one did not arrive, the file is read again from
// the beginning of that one, without guessing, until the scanner meets the beginning of another.

namespace fathom::trace {
namespace {

// One thread's work.
struct Worker {
  ChromePart result;
  EventRows rows{result};
  FastScanner fast;
  std::exception_ptr failure;
};

// For the batch that holds the end of the content.
void note_end(Batch& batch, DocumentEnd end, DocumentForm form) {
  const bool is_complete = end == DocumentEnd::after ||
                           (form == DocumentForm::lines && end == DocumentEnd::between_events);
  if (!is_complete) batch.warnings.add(WarningKind::cut_off, batch.end);
  batch.is_whole = true;
}

Batch read_block(const Block& block, DocumentForm form, Worker& worker) {
  Batch batch(block.begin, *worker.result.part.arena);
  batch.end = block.begin + block.size;
  worker.rows.begin_batch(batch);
  TolerantScanner tolerant(block.text(), block.begin, batch.warnings);
  DocumentScanner document(tolerant, form, worker.rows, batch);
  DocumentEnd end = DocumentEnd::at_events;
  if (block.index == 0) {
    end = document.find_events();
  } else {
    document.begin_among_events();
  }
  if (end == DocumentEnd::at_events) {
    const std::string_view events = block.text().substr(tolerant.position);
    const FastStop stop =
        worker.fast.scan(events, tolerant.byte(), form == DocumentForm::lines, worker.rows);
    tolerant.position += stop.at;
    document.begin_among_events(stop.is_after_event);
    end = document.read_all();
  }
  worker.rows.end_batch();
  batch.is_whole = end == DocumentEnd::between_events;
  if (block.is_last) note_end(batch, end, form);
  return batch;
}

void read_blocks(BlockSource& source, DocumentForm form, base::Progress& progress, Worker& worker) {
  try {
    Block block;
    while (source.next(block)) {
      worker.result.batches.push_back(read_block(block, form, worker));
      progress.advance(block.stored_size);
      if (!block.is_usual()) worker.fast.let_go();
    }
  } catch (...) {
    worker.failure = std::current_exception();
  }
}

using Workers = std::vector<std::unique_ptr<Worker>>;

Workers read_in_parallel(const Input& input, BlockSource& source, DocumentForm form,
                         unsigned count) {
  base::Progress progress("reading " + input.name(), input.stored_size());
  Workers workers;
  for (unsigned i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>());
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i) {
    threads.emplace_back([&, i] { read_blocks(source, form, progress, *workers[i]); });
  }
  read_blocks(source, form, progress, *workers[0]);
  for (std::thread& thread : threads) thread.join();
  for (const auto& worker : workers) {
    if (worker->failure) std::rethrow_exception(worker->failure);
  }
  return workers;
}

// Reads on from batch `from`, which did not end where the next one begins, to the beginning of
// another; returns which.
std::size_t read_without_guessing(const Input& input, DocumentForm form,
                                  const std::vector<Batch*>& batches, std::size_t from,
                                  Worker& worker) {
  std::vector<std::uint64_t> stops;
  for (std::size_t i = from + 1; i < batches.size(); ++i) stops.push_back(batches[i]->begin);
  Batch batch(batches[from]->begin, *worker.result.part.arena);
  worker.rows.begin_batch(batch);
  TolerantScanner tolerant(input.view().substr(batch.begin), batch.begin, batch.warnings);
  DocumentScanner document(tolerant, form, worker.rows, batch);
  if (from > 0) document.begin_among_events();
  const DocumentEnd end = document.read_all(stops);
  worker.rows.end_batch();
  batch.end = tolerant.byte();
  std::size_t next = batches.size();
  if (end == DocumentEnd::at_stop) {
    const auto at = std::lower_bound(stops.begin(), stops.end(), batch.end);
    next = from + 1 + static_cast<std::size_t>(at - stops.begin());
  } else {
    batch.end = input.view().size();
    note_end(batch, end, form);
  }
  batch.is_whole = true;
  worker.result.batches.push_back(std::move(batch));
  return next;
}

// Drops what was read from a wrong beginning, and reads it again.
void verify(const Input& input, DocumentForm form, Workers& workers) {
  std::vector<Batch*> batches;
  for (const auto& worker : workers) {
    for (Batch& batch : worker->result.batches) batches.push_back(&batch);
  }
  std::sort(batches.begin(), batches.end(),
            [](const Batch* a, const Batch* b) { return a->begin < b->begin; });
  auto repair = std::make_unique<Worker>();
  for (std::size_t i = 0; i < batches.size();) {
    if (batches[i]->is_whole) {
      ++i;
      continue;
    }
    const std::size_t next = read_without_guessing(input, form, batches, i, *repair);
    for (; i < next; ++i) batches[i]->is_whole = false;
  }
  for (const auto& worker : workers) {
    std::erase_if(worker->result.batches, [](const Batch& batch) { return !batch.is_whole; });
  }
  workers.push_back(std::move(repair));
}

bool is_right(const Workers& workers) {
  return std::all_of(workers.begin(), workers.end(), [](const auto& worker) {
    const std::vector<Batch>& batches = worker->result.batches;
    return std::all_of(batches.begin(), batches.end(), [](const Batch& b) { return b.is_whole; });
  });
}

// What the blocks say together.
struct Findings {
  std::uint64_t events = 0;
  bool has_event_list = false;
  bool is_cut_off = false;
  std::vector<HeadingValue> heading;
};

Findings findings_of(Workers& workers) {
  Findings all;
  std::vector<std::pair<std::uint64_t, HeadingValue>> heading;
  for (const auto& worker : workers) {
    for (Batch& batch : worker->result.batches) {
      all.events += batch.events;
      all.has_event_list |= batch.has_event_list;
      all.is_cut_off |= batch.warnings.count(WarningKind::cut_off) > 0;
      for (HeadingValue& value : batch.heading) heading.emplace_back(batch.begin, std::move(value));
    }
  }
  std::stable_sort(heading.begin(), heading.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [begin, value] : heading) all.heading.push_back(std::move(value));
  return all;
}

unsigned thread_count(const Input& input, unsigned asked) {
  constexpr std::uint64_t kWorthAThread = 1U << 20;
  if (asked > 0) return asked;
  if (input.packing() == Packing::none && input.stored_size() < kWorthAThread) return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
}

}  // namespace

Trace read_chrome(const std::shared_ptr<const Input>& input, unsigned threads) {
  threads = thread_count(*input, threads);
  const DocumentForm form = form_of(input->head());
  BlockSource source(*input, form == DocumentForm::lines);
  Workers workers = read_in_parallel(*input, source, form, threads);
  if (!is_right(workers)) verify(*input, form, workers);

  Findings found = findings_of(workers);
  const bool is_damaged = source.is_damaged();
  if (found.events == 0 && (!found.has_event_list || found.is_cut_off || is_damaged)) {
    if (found.has_event_list) throw base::Error(input->name(), "cut off before the first event");
    throw base::Error(input->name(), "no traceEvents in this JSON",
                      std::string("Fathom reads ") + kFormatsRead);
  }
  Warnings warnings;
  if (is_damaged) warnings.add(WarningKind::damaged_packing, source.content_size());
  std::vector<ChromePart> parts;
  for (const auto& worker : workers) parts.push_back(std::move(worker->result));
  workers.clear();
  Trace trace = finish_chrome(std::move(parts), run_info_of(found.heading), warnings, threads);
  // One cause, one line: packed data that is cut off cuts off what is in it.
  if (is_damaged) trace.warnings.remove(WarningKind::cut_off);
  trace.args_at = [input](std::uint64_t at) {
    const std::string_view content = input->view();
    return at < content.size() ? args_of_event(content.substr(at)) : std::string();
  };
  return trace;
}

}  // namespace fathom::trace
