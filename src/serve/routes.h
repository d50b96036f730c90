#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/access.h"
#include "serve/analyses.h"
#include "serve/files.h"
#include "serve/http.h"
#include "serve/live.h"
#include "serve/target.h"
#include "serve/tokens.h"

// All that the server answers: one table. What is not in it is not there.
namespace fathom::serve {

// What handlers work with. Those of fast routes run on the thread of the server, one at a time, and
// they alone may touch tokens and logins.
struct Services {
  Monitor& monitor;
  Live& live;
  Tokens& tokens;
  Logins& logins;
  RateLimit& failed_logins;
  Folder* folder;      // none where none was named
  Analyses* analyses;  // the same
  std::size_t upload_limit;
  std::string cookie_name;
  bool is_tls;
  std::shared_ptr<const std::string> page;        // without data
  std::function<void(std::string)> tell_session;  // publishes a session's JSON
};

struct Call {
  std::vector<std::string> parameters;  // of the path
  Target target;
  Identity who;
  std::string address;
  std::string cookie;  // the value of ours
  std::string body;
};

enum class Speed { fast, slow };  // slow ones get a thread of their own
enum class BodyKind { none, json, file };
enum class Noted { changes, denials };  // in the audit log: all, or what is refused

struct Endpoint {
  std::string_view method;
  std::string_view path;  // "/api/sessions/{id}": a part in braces is a parameter
  Role role;
  bool changes_state;
  BodyKind body;
  Speed speed;
  Noted noted;
  Response (*handle)(Services& services, Call& call);
};

std::span<const Endpoint> routes();

struct Match {
  const Endpoint* route = nullptr;
  std::vector<std::string> parameters = {};
  std::string allowed = {};  // where the path is there, but not with this method: "GET, POST"
};
Match match(std::string_view method, const Target& target);

// The handlers, by what they are about; a file each.
Response get_page(Services& services, Call& call);
Response get_trace_page(Services& services, Call& call);
Response get_health(Services& services, Call& call);
Response get_metrics(Services& services, Call& call);
Response get_status(Services& services, Call& call);
Response get_history(Services& services, Call& call);
Response get_events(Services& services, Call& call);
Response post_login(Services& services, Call& call);
Response post_logout(Services& services, Call& call);
Response get_me(Services& services, Call& call);
Response get_sessions(Services& services, Call& call);
Response post_session(Services& services, Call& call);
Response get_session(Services& services, Call& call);
Response post_stop(Services& services, Call& call);
Response post_inference(Services& services, Call& call);
Response get_files(Services& services, Call& call);
Response get_flame(Services& services, Call& call);
Response get_memory(Services& services, Call& call);
Response get_timeline(Services& services, Call& call);
Response get_kernels(Services& services, Call& call);
Response get_hta(Services& services, Call& call);
Response get_compile(Services& services, Call& call);

// Of an upload, whose body has arrived.
Response uploaded(Services& services, Upload& upload);

}  // namespace fathom::serve
