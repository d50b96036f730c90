#include "monitor/session_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "monitor/monitor_json.h"
#include "monitor/session_file.h"

namespace fathom::monitor {

std::string SessionFolder::file_of(const std::string& id) const {
  return (std::filesystem::path(path_) / (id + std::string(kSessionSuffix))).string();
}

std::string SessionFolder::report_of(const std::string& id) const {
  return (std::filesystem::path(path_) / (id + ".json")).string();
}

bool SessionFolder::is_id(std::string_view id) {
  return !id.empty() &&
         std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

SessionFolder::Listing SessionFolder::list() {
  const std::lock_guard guard(lock_);
  std::map<std::string, Known> found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(path_, failure)) {
    std::string id = entry.path().filename().string();
    if (!id.ends_with(kSessionSuffix)) continue;
    id.resize(id.size() - kSessionSuffix.size());
    if (!is_id(id)) continue;
    const std::uintmax_t bytes = entry.file_size(failure);
    const auto known = known_.find(id);
    if (known != known_.end() && known->second.bytes == bytes && known->second.session.stopped_ns) {
      found.insert(*known);
    } else if (auto session = list_session(entry.path().string())) {
      session->id = id;
      if (session->was_interrupted && session->config.export_json_reports &&
          !std::filesystem::exists(report_of(id), failure)) {
        write_report(report_of(id), read_session(entry.path().string()).report());
      }
      found[id] = {std::move(*session), entry.file_size(failure)};
    }
  }
  known_ = std::move(found);
  Listing listing;
  for (const auto& [id, known] : known_) listing.emplace(id, known.session);
  return listing;
}

bool write_report(const std::string& path, const SessionReport& report) {
  try {
    base::Output out(path);
    out.buffer() = to_json(report);
    out.finish();
    return true;
  } catch (const base::Error&) {
    return false;
  }
}

}  // namespace fathom::monitor
