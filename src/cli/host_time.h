#pragma once

#include "advise/host_operation.h"

namespace fathom::cli {

// As `fathom tune` measured it on this machine. The profile is read when first asked for.
advise::HostTime host_time_of_this_machine();

}  // namespace fathom::cli
