#pragma once

namespace fathom::record::opencl {

// Makes sure that there is a background thread that asks which commands are over, in this process
// (a forked child has none until it calls this). Cheap when there is. Also arranges for what is
// over to be handed over when the program exits, which never waits for what is not.
void ensure_poller() noexcept;

}  // namespace fathom::record::opencl
