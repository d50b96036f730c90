#pragma once

#include <functional>

namespace fathom::python {

// Does `work` without the GIL. Ctrl-C in the meantime raises KeyboardInterrupt at once; the work
// goes on by itself until it is done and nobody sees it, so it must own all that it uses.
void do_long_work(std::function<void()> work);

// Until work that nobody waits for any more is done: for the end of the program.
void wait_for_abandoned_work();

}  // namespace fathom::python
