#include "record/opencl/enqueue.h"

#include "record/opencl/memory.h"

namespace fathom::record::opencl {

void follow(Queue* queue, const Enqueued& what, cl_event event, std::int64_t begin_ns,
            cl_int status) noexcept {
  const Launch launch = {.event = event,
                         .call_begin_ns = begin_ns,
                         .call_end_ns = now_ns(),
                         .thread = thread_id(),
                         .scope = open_scope(),
                         .correlation = next_correlation(),
                         .frees = what.frees};
  returned({.kind = what.blocking ? Kind::sync : Kind::call,
            .status = status,
            .thread = launch.thread,
            .name = what.api,
            .scope = launch.scope,
            .correlation = launch.correlation,
            .begin_ns = begin_ns,
            .end_ns = launch.call_end_ns});

  if (event == nullptr) {
    if (what.frees != nullptr && status != CL_SUCCESS) keep_alive(what.frees);
    if (what.frees != nullptr && status == CL_SUCCESS) report_frees(what.frees, launch.call_end_ns);
    return;
  }
  ensure_poller();
  take_in(*queue, what.command, launch);
  if (what.blocking) drain(*queue);
}

}  // namespace fathom::record::opencl
