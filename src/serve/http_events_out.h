#pragma once

#include <deque>
#include <utility>

#include "serve/http_shared.h"

namespace fathom::serve {

// The events of a connection whose head is sent, until its client hangs up, does not keep up or may
// not listen any more. A part of that connection, which lives as long as something is under way.
template <typename Stream>
class EventsOut final : public StreamOut {
 public:
  EventsOut(Shared& shared, Stream& stream) : shared_(shared), stream_(stream) {}
  ~EventsOut() override { leave(); }
  EventsOut(const EventsOut&) = delete;
  EventsOut& operator=(const EventsOut&) = delete;

  void begin(const std::shared_ptr<void>& connection, const Response& response) {
    connection_ = connection;
    channel = *response.channel;
    is_still_allowed = response.is_still_allowed;
    beast::get_lowest_layer(stream_).expires_never();  // who does not read is found by what waits
    shared_.streams.insert(this);
    shared_.stream_count = shared_.streams.size();
    wait_for_hang_up();
  }

  void push(const Bytes& bytes) override {
    queued_bytes_ += bytes->size();
    queue_.push_back(bytes);
    if (queued_bytes_ > kMostQueuedBytes) return end();
    if (queue_.size() == 1) send_queued();
  }

  void end() override {
    error_code ignored;
    leave();
    beast::get_lowest_layer(stream_).socket().close(ignored);
  }

 private:
  static constexpr std::size_t kMostQueuedBytes = 8 * 1024 * 1024;

  void wait_for_hang_up() {
    stream_.async_read_some(asio::buffer(unread_),
                            [this, held = connection_.lock()](error_code failed, std::size_t) {
                              if (failed) return end();
                              wait_for_hang_up();
                            });
  }

  void send_queued() {
    asio::async_write(stream_, asio::buffer(*queue_.front()),
                      [this, held = connection_.lock()](error_code failed, std::size_t) {
                        if (failed) return end();
                        queued_bytes_ -= queue_.front()->size();
                        queue_.pop_front();
                        if (!queue_.empty()) send_queued();
                      });
  }

  void leave() {
    shared_.streams.erase(this);
    shared_.stream_count = shared_.streams.size();
  }

  Shared& shared_;
  Stream& stream_;
  std::weak_ptr<void> connection_;
  std::deque<Bytes> queue_;
  std::size_t queued_bytes_ = 0;
  char unread_[1024] = {};
};

}  // namespace fathom::serve
