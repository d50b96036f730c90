#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "base/table.h"
#include "report/text/session_text.h"

namespace fathom::report {
namespace {

using Figure = std::optional<std::int64_t>;  // nanoseconds; of memory, bytes

std::string duration(const Figure& ns) {
  return ns ? base::format_duration(static_cast<double>(*ns)) : "–";
}

std::vector<Figure> figures_of(const ProfileSession& session) {
  return {session.total_ns,    session.gpu_ns, session.transfer_ns,
          session.overhead_ns, session.cpu_ns, session.peak_memory_bytes};
}

std::vector<std::string> row_of(std::string name, const std::vector<Figure>& figures) {
  std::vector<std::string> row = {std::move(name)};
  for (std::size_t i = 0; i + 1 < figures.size(); ++i) row.push_back(duration(figures[i]));
  row.push_back(figures.back() ? base::format_bytes(static_cast<double>(*figures.back())) : "–");
  return row;
}

// Each figure's own median; of an even number the lower of the middle two.
std::vector<Figure> medians(const std::vector<ProfileSession>& sessions) {
  std::vector<Figure> typical = figures_of(sessions.front());
  for (std::size_t i = 0; i < typical.size(); ++i) {
    std::vector<std::int64_t> known;
    for (const ProfileSession& session : sessions) {
      if (const Figure figure = figures_of(session)[i]) known.push_back(*figure);
    }
    const std::size_t middle = known.empty() ? 0 : (known.size() - 1) / 2;
    std::sort(known.begin(), known.end());
    typical[i] = known.empty() ? Figure() : known[middle];
  }
  return typical;
}

}  // namespace

std::string sessions_text(const std::vector<ProfileSession>& sessions, std::size_t width) {
  if (sessions.empty()) return {};
  base::Table table({"run", "time", "gpu", "transfer", "overhead", "cpu", "device memory"});
  std::int64_t shortest = sessions.front().total_ns;
  std::int64_t longest = shortest;
  for (const ProfileSession& session : sessions) {
    table.row(row_of(session.trace_path, figures_of(session)));
    shortest = std::min(shortest, session.total_ns);
    longest = std::max(longest, session.total_ns);
  }
  table.row(row_of("median", medians(sessions)));
  return fmt::format("\n  {}, {} to {} each.\n\n{}",
                     base::format_plural(sessions.size(), "run", "runs"), duration(shortest),
                     duration(longest), table.text(width));
}

}  // namespace fathom::report
