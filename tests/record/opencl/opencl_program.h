#pragma once

#include <CL/cl.h>

#include <string>
#include <vector>

// The parts of an OpenCL program whose every command is known. What it does to be seen by others
// goes to standard output, the same each time; what a recorder should have seen goes to standard
// error as lines that begin with "truth".
namespace opencl_program {

inline constexpr std::size_t kItems = 1024;
inline constexpr std::size_t kBytes = kItems * sizeof(float);

// Ends the program with status 3 and the line, where an OpenCL call failed.
void check(cl_int status, int line);
#define CHECK_CL(call) opencl_program::check((call), __LINE__)

// One device, its context and a program with the kernels `twice`, `add_one` and `slow` (about a
// millisecond a launch).
struct Setup {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;

  Setup();
  void release() const;
  cl_kernel kernel(const char* name) const;
  cl_mem buffer(std::size_t bytes = kBytes) const;
  cl_command_queue queue(cl_command_queue_properties properties = 0) const;
};

void run(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, cl_event* event = nullptr,
         const std::vector<cl_event>& wait = {});

// "truth KIND NAME COUNT [BYTES of each]"
void truth(const std::string& kind, const std::string& name, int count, std::size_t bytes = 0);
// "truth duration NAME NS", as the program reads it from its own event.
void truth_duration(const std::string& name, cl_event event);

// The modes, by what they are about.
bool run_commands(const std::string& mode);
bool run_memory(const std::string& mode);
bool run_behaviour(const std::string& mode);
bool run_fate(const std::string& mode, const char* self);

}  // namespace opencl_program
