#pragma once

#include <CL/cl.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "record/opencl/command.h"
#include "record/opencl/devices.h"

namespace fathom::record::opencl {

struct FreedMemory;

// The call that enqueued a command, and the event we hold until the command is over.
struct Launch {
  cl_event event = nullptr;
  std::int64_t call_begin_ns = 0;
  std::int64_t call_end_ns = 0;
  std::uint32_t thread = 0;
  std::uint64_t scope = 0;
  std::uint64_t correlation = 0;
  FreedMemory* frees = nullptr;  // memory that is gone once the command is over; owned
};

// A command in flight.
struct Pending {
  QueuedCommand command;
  Launch launch;
  Pending* next = nullptr;
};

// A host command queue and what is in flight on it. Never destroyed: a queue whose handle is used
// again is forgotten once its last command is over, and its object reused.
struct Queue {
  cl_command_queue handle = nullptr;
  Device* device = nullptr;
  std::int32_t index = 0;
  bool out_of_order = false;
  bool on_device = false;
  bool profiles = false;                   // the driver stamps its commands
  bool asked_profiling = false;            // the program wants it to
  bool forced = false;                     // it does because we asked
  std::vector<cl_queue_properties> given;  // by the program, final 0 included; empty where NULL

  std::mutex lock;  // of all below
  Pending* first = nullptr;
  Pending* last = nullptr;
  Pending* spare = nullptr;
  std::uint32_t in_flight = 0;
  std::uint32_t since_drain = 0;
  bool used = false;               // since the background thread last looked
  std::atomic<bool> full = false;  // the last command found no room
  std::atomic_flag draining;       // one at a time; the others need not wait for it
};

// What we know of a queue, made up from what the driver says where we did not see it created.
// Null where memory ran out.
Queue* find_queue(cl_command_queue handle) noexcept;

// The queue that an event's command is on; null where there is none.
Queue* queue_of(cl_event event) noexcept;

// Remembers a queue that has just been created. `given` as in Queue.
Queue* add_queue(cl_command_queue handle, std::vector<cl_queue_properties> given,
                 bool forced) noexcept;

// The queues there are, from 0; null past the last.
Queue* queue_at(std::size_t i) noexcept;

void lock_queues() noexcept;  // around a fork: every lock of every queue
void unlock_queues(bool in_child) noexcept;

}  // namespace fathom::record::opencl
