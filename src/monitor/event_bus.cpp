#include "monitor/event_bus.h"

#include <exception>
#include <utility>

namespace fathom::monitor {

int EventBus::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.emplace(next_, std::move(listener));
  return next_++;
}

void EventBus::unsubscribe(int subscription) {
  const std::lock_guard no_call_is_under_way(sending_);
  const std::lock_guard lock(mutex_);
  listeners_.erase(subscription);
}

bool EventBus::has_listeners() const {
  const std::lock_guard lock(mutex_);
  return !listeners_.empty();
}

void EventBus::send(const Event& event) {
  const std::lock_guard one_at_a_time(sending_);
  std::map<int, Listener> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& [number, listener] : listeners) {
    {
      const std::lock_guard lock(mutex_);
      if (!listeners_.contains(number)) continue;  // unsubscribed by the one before
    }
    try {
      listener(event);
    } catch (const std::exception&) {
      // Its business; the others are told all the same.
    }
  }
}

}  // namespace fathom::monitor
