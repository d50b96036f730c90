#pragma once

#include <nlohmann/json_fwd.hpp>

namespace fathom::serve {

// docs/openapi.yaml.
const nlohmann::json& openapi();

}  // namespace fathom::serve
