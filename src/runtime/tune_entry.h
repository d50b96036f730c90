#pragma once

#include "fathom/export.h"
#include "runtime/tune.h"

// For the program, which opens the library only when it is asked to tune: what it computes with
// takes time to load.
extern "C" FATHOM_API void fathom_tune_this_machine(const fathom::runtime::TuneOptions& options);
