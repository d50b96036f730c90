#include "analyze/operations/server.h"

#include <algorithm>

#include "base/contains.h"

namespace fathom::analyze {

bool is_of_package(std::string_view name, std::string_view folder) {
  const std::string_view package = folder.substr(1, folder.size() - 2);
  if (!name.starts_with(package)) return base::contains(name, folder);
  const std::string_view rest = name.substr(package.size());
  return rest.starts_with('/') || rest.starts_with("::");
}

Server server_of(std::string_view name) {
  if (is_of_package(name, "/sglang/") || is_of_package(name, "/sgl_kernel/")) {
    return Server::sglang;
  }
  return is_of_package(name, "/vllm/") ? Server::vllm : Server::none;
}

Server server_of(const trace::Trace& trace) {
  Server found = Server::none;
  for (trace::NameId id = 0; id < trace.names.size(); ++id) {  // each distinct name once
    found = std::max(found, server_of(trace.names.view(id)));
  }
  return found;
}

}  // namespace fathom::analyze
