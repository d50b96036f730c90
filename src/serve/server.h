#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "serve/audit.h"
#include "serve/http_server.h"
#include "serve/routes.h"

namespace fathom::serve {

struct ServerOptions {
  HttpOptions http = {.port = 6970};
  std::string folder;                 // of traces; none where it is empty
  std::string token_file;             // a token for this run alone is made where it is empty
  std::string audit_log;              // a file
  std::vector<std::string> hosts;     // other names that this server goes by
  bool may_send_unencrypted = false;  // to other machines
  std::size_t upload_limit = std::size_t{512} << 20;
  std::size_t trace_memory = std::size_t{2} << 30;
  // Per second and address, of those who show a token or cookie; 0 for as many as they like.
  double requests_per_second = 1000;
};

// `fathom serve`: decides of each request who asks and whether they may, and notes it; routes.h has
// the answers.
class Server {
 public:
  // Listens at once. Throws base::Error, where the options are not safe too.
  Server(Monitor& monitor, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return http_->port(); }
  // The address to open in a browser. The token for this run is in its fragment, which browsers
  // send nowhere; the page exchanges it for a cookie.
  std::string url() const;
  const std::string& token() const { return token_; }  // for this run; empty with a file of them
  HttpFigures figures() const { return http_->figures(); }

 private:
  using Time = std::chrono::steady_clock::time_point;

  Admission admit(const Request& request);
  Admission deny(const Request& request, const Identity& who, Response response,
                 std::string_view reason);
  bool can_pay(const Request& request, const Identity& who);
  void note_late_refusal(const Request& request, const Identity& who, int status);
  void note_turned_away(const TurnedAway& what);
  std::optional<Response> refusal_by_rate(const Request& request, const Identity& who, Time now);
  struct Refusal {
    int status = 0;
    std::string sentence;
  };
  std::optional<Refusal> why_not(const Request& request, const Endpoint& route, const Identity& who,
                                 bool has_cookie) const;
  Admission take_upload(const Request& request, std::shared_ptr<Call> call);
  Admission take_call(const Endpoint& route, std::shared_ptr<Call> call);
  Response run(const Request& request, const Endpoint& route, Call& call);
  void note(const Request& request, const Identity& who, int status, std::string_view reason);

  ServerOptions options_;
  Tokens tokens_;
  Logins logins_;
  std::string token_;
  std::vector<std::string> hosts_;
  RateLimit known_, strangers_, failed_logins_, turned_away_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Analyses> analyses_;
  std::unique_ptr<Audit> audit_;
  std::atomic<std::uint64_t> denied_{0};
  std::atomic<HttpServer*> listening_{nullptr};  // once it does
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<Live> live_;
  std::unique_ptr<Services> services_;
};

}  // namespace fathom::serve
