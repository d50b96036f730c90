#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "fathom/monitor.h"

namespace fathom::monitor {

// Who listens. Calls go out from one thread at a time; after unsubscribe() a listener is not called
// any more, unless it is its own call that it unsubscribes in.
class EventBus {
 public:
  using Listener = std::function<void(const Event&)>;

  int subscribe(Listener listener);
  void unsubscribe(int subscription);
  bool has_listeners() const;
  void send(const Event& event);  // what a listener throws is lost

 private:
  mutable std::mutex mutex_;
  std::recursive_mutex sending_;  // a listener may unsubscribe
  std::map<int, Listener> listeners_;
  int next_ = 1;
};

}  // namespace fathom::monitor
