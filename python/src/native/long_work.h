#pragma once

#include <functional>

namespace fathom::python {

// Does `work` without the GIL. Ctrl-C in the meantime raises KeyboardInterrupt at once; the work
// goes on by itself until it is done and nobody sees it, so it must own all that it uses.
void do_long_work(std::function<void()> work);

// To be called once by each module with long work: the end of the program waits for work that
// nobody waits for any more, and a forked child for none of its parent's.
void finish_long_work_at_exit();

}  // namespace fathom::python
