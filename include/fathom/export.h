#pragma once

// libfathom.so shows only what is marked with this: one profiler instance serves the program, the
// libraries it loads and Python alike.
#define FATHOM_API __attribute__((visibility("default")))
