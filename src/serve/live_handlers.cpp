// What the GPUs do now, and did: /api/gpu/…, /api/events, /api/health, /metrics; and the page.

#include <algorithm>
#include <cmath>

#include "base/json_scan.h"
#include "monitor/monitor_json.h"
#include "serve/answers.h"
#include "serve/routes.h"

namespace fathom::serve {
namespace {

Audience audience_of(Call& call) {
  return call.who.role >= Role::admin ? Audience::admins : Audience::viewers;
}

}  // namespace

Response get_page(Services& services, Call&) {
  return page_answer(200, services.page);
}

// Everybody may ask, so it says what is wrong without naming anything.
Response get_health(Services& services, Call&) {
  const bool is_healthy = services.live.is_healthy();
  std::string text;
  base::JsonWriter json(text);
  json.begin_object().key("status").value(is_healthy ? "ok" : "degraded");
  if (!is_healthy)
    json.key("problem").value("A source of figures does not answer; /api/gpu/status says which");
  json.end_object();
  return json_answer(is_healthy ? 200 : 503, std::move(text));
}

Response get_metrics(Services& services, Call& call) {
  const auto asked = call.target.value("names");
  if (asked && *asked != "all" && *asked != "base")
    return error_answer(400, "names is all or base");
  const MetricNames names = asked && *asked == "base" ? MetricNames::base_units : MetricNames::all;
  return ready_answer(services.live.metrics(names), "text/plain; version=0.0.4; charset=utf-8");
}

Response get_status(Services& services, Call& call) {
  return ready_answer(services.live.status(audience_of(call)), "application/json");
}

Response get_history(Services& services, Call& call) {
  std::vector<Snapshot> snapshots = services.monitor.snapshots();
  const auto asked = call.target.value("seconds");
  if (asked) {
    const auto seconds = base::real_of(*asked);
    if (!seconds || !(*seconds >= 0))
      return error_answer(400, "seconds is not a number of seconds");
    const double most = std::min(*seconds, 1e9);
    const std::int64_t from = snapshots.empty() ? 0 : snapshots.back().time_ns;
    std::erase_if(snapshots, [&](const Snapshot& snapshot) {
      return static_cast<double>(from - snapshot.time_ns) > most * 1e9;
    });
  }
  std::string text;
  base::JsonWriter json(text);
  begin_answer(json, "HistoryDocument");
  monitor::write_history_members(json, snapshots);
  json.end_object();
  return json_answer(200, std::move(text));
}

Response get_events(Services& services, Call& call) {
  const Audience audience = audience_of(call);
  Response response = ready_answer(
      std::make_shared<std::string>("retry: 1000\n\n" +
                                    Live::event("snapshot", *services.live.status(audience))),
      "text/event-stream");
  response.channel = static_cast<unsigned>(audience);
  response.is_still_allowed = [&services, who = call.who, cookie = call.cookie] {
    const auto now = std::chrono::steady_clock::now();
    services.tokens.reread_if_changed(now);
    if (cookie.empty()) return services.tokens.has(who.token_hash);
    return services.logins.find(cookie, services.tokens, now).has_value();
  };
  return response;
}

}  // namespace fathom::serve
