#pragma once

#include <string>
#include <vector>

#include "record/launch/launch.h"

namespace fathom::record {

// What is put into a program that is recorded.
struct Injection {
  std::string run_file = {};     // of each process; "%p" is its id
  std::string live_folder = {};  // for what they have not written yet; empty for none
  bool opencl = true;
  bool cuda = true;
  bool every_call = false;  // small runtime calls too
  bool python = false;      // sampled from outside: nothing is put into the program for it
};

// The environment that makes a program, and its children, load Fathom's recorders.
Environment environment_for(const Injection& injection);

// Where a recorder's library is: beside the running program, as installed or as built. Empty where
// it was not built.
std::string recorder_library(const std::string& name);

}  // namespace fathom::record
