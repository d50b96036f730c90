#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/run_program.h"
#include "serve/client.h"
#include "serve/server.h"

namespace fathom::serve {

// A server of demo GPUs and of a folder with one trace ("run.json") in it, with a token of each
// role.
class Served {
 public:
  using Change = std::function<void(ServerOptions&)>;
  explicit Served(const Change& change = {},
                  const std::function<void(MonitorConfig&)>& monitored = {});

  std::uint16_t port() const { return server->port(); }
  Answer ask(Question question) const { return serve::ask(port(), question); }
  Answer get(const std::string& target, const std::string& token = {}) const;
  Answer post(const std::string& target, const std::string& json, const std::string& token) const;
  // A question as the page asks it, with a cookie of that role.
  Question as_page(Question question, const std::string& token) const;
  std::string audit() const { return cli::content_of(scratch.path("audit")); }

  cli::Scratch scratch;
  std::string folder;  // of traces
  std::string admin, viewer, metrics;
  std::unique_ptr<Monitor> monitor;
  std::unique_ptr<Server> server;
};

extern const char* const kJsonType;   // the header
extern const char* const kBytesType;  // of an upload

}  // namespace fathom::serve
