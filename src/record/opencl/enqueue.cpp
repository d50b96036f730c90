#include "record/opencl/enqueue.h"

#include "record/opencl/memory.h"

namespace fathom::record::opencl {

void follow(Queue* queue, const Enqueued& what, cl_event event, std::int64_t begin_ns,
            cl_int status) noexcept {
  const std::int64_t end_ns = now_ns();
  Pending pending = {.command = what.command,
                     .event = event,
                     .call_begin_ns = begin_ns,
                     .call_end_ns = end_ns,
                     .frees = what.frees};
  pending.command.thread = thread_id();
  pending.command.scope = open_scope();
  pending.command.correlation = next_correlation();

  Command call = {.kind = what.blocking ? Kind::sync : Kind::call,
                  .status = status,
                  .thread = pending.command.thread,
                  .name = what.api,
                  .scope = pending.command.scope,
                  .correlation = pending.command.correlation};
  call.start_ns = begin_ns;
  call.end_ns = end_ns;
  finished(call);

  if (event == nullptr) {
    if (what.frees != nullptr && status != CL_SUCCESS) keep_alive(what.frees);
    if (what.frees != nullptr && status == CL_SUCCESS) report_frees(what.frees, end_ns);
    return;
  }
  pending.command.queue = queue->index;
  pending.command.device = queue->device->index;
  ensure_poller();
  take_in(*queue, pending);
  if (what.blocking) drain(*queue);
}

}  // namespace fathom::record::opencl
