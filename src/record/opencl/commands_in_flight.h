#pragma once

#include "record/opencl/queues.h"

namespace fathom::record::opencl {

// Commands in flight: taken in when they are enqueued, handed to the sink once they are over.
//
// Completion is found by asking for the events' status: callbacks are not delivered for failed
// events by every driver, and run at moments we do not choose. Asking happens at later calls of
// the program and in the background (poller.h), and never waits.

inline constexpr std::uint32_t kMaxInFlight = 65'536;  // of all queues

// Whether there is room for one more. When there is not, what is over is taken out first.
bool has_room(Queue& queue) noexcept;

// Takes in a command with the reference to its event; from here on both are ours.
void take_in(Queue& queue, const QueuedCommand& command, const Launch& launch) noexcept;

// Hands over what is over. On an in-order queue it stops at the first command that is not.
void drain(Queue& queue) noexcept;

// The same for every queue, and room that idle queues do not use is given back.
void drain_all() noexcept;

// clGetEventInfo(CL_EVENT_REFERENCE_COUNT) without the references that are ours.
cl_int reference_count(cl_event event, cl_uint& count) noexcept;

void lock_commands_in_flight() noexcept;  // around a fork
void unlock_commands_in_flight() noexcept;

}  // namespace fathom::record::opencl
