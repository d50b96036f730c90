#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "serve/http_server.h"

// What all connections share. Like all headers with Boost in them, of http_server.cpp alone.
namespace fathom::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
using Bytes = std::shared_ptr<const std::string>;

// Where events go out.
class StreamOut {
 public:
  virtual ~StreamOut() = default;
  virtual void push(const Bytes& bytes) = 0;
  virtual void end() = 0;
  bool is_allowed() const { return !is_still_allowed || is_still_allowed(); }

  unsigned channel = 0;
  std::function<bool()> is_still_allowed;
};

// On the thread of the server, but for the atomics.
struct Shared {
  HttpOptions options;
  HttpServer::Admit admit;
  HttpServer::NoteTurnedAway turned_away;
  std::unordered_map<std::string, std::size_t> per_address;
  std::set<StreamOut*> streams;
  std::atomic<std::size_t> connections{0}, stream_count{0}, waiting_work{0};
  std::atomic<std::uint64_t> requests{0}, malformed{0}, refused{0}, timed_out{0};
  asio::thread_pool* workers = nullptr;
};

}  // namespace fathom::serve
