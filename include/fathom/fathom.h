#pragma once

// Fathom's profiler, all of it:
//
//   #include <fathom/fathom.h>
//
//   void step() {
//     FATHOM_SCOPE("step");
//     auto scope = fathom::profiler().profile("load", {.size = bytes});
//   }
//   fathom::profiler().print_summary();

#include "fathom/activity.h"
#include "fathom/attribute.h"
#include "fathom/memory.h"
#include "fathom/opencl.h"
#include "fathom/profiler.h"
#include "fathom/results.h"
#include "fathom/session.h"
