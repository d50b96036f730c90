// Programs: made, compiled, linked. A cold build is often the whole story of a slow start.

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "record/opencl/calls.h"
#include "record/opencl/entry_points.h"

namespace fathom::record::opencl {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

constexpr std::size_t kMostLog = 4000;
constexpr std::size_t kMostDevices = 64;

// How a build ended, by the program's own account: the first device that it failed for, and what
// the compiler said of it.
struct Outcome {
  cl_int status = CL_SUCCESS;
  std::string log = {};
};

std::string log_of(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (driver.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return {};
  }
  std::string log(size, '\0');
  driver.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(std::min({log.size(), log.find('\0'), kMostLog}));
  return log;
}

Outcome outcome_of(cl_program program) noexcept {
  if (program == nullptr || driver.clGetProgramBuildInfo == nullptr) return {};
  try {
    std::array<cl_device_id, kMostDevices> devices{};
    std::size_t size = 0;
    if (driver.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices.data(),
                                &size) != CL_SUCCESS) {
      return {};
    }
    for (std::size_t i = 0; i < size / sizeof(cl_device_id); ++i) {
      cl_build_status status = CL_BUILD_NONE;
      driver.clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_STATUS, sizeof status,
                                   &status, nullptr);
      if (status == CL_BUILD_ERROR) {
        return {CL_BUILD_PROGRAM_FAILURE, log_of(program, devices[i])};
      }
    }
  } catch (...) {
    return {};  // no memory for it
  }
  return {};
}

// A build that goes on after the call has returned: it ends when the driver says so.
struct Build {
  const char* name = "";
  std::int64_t begin_ns = 0;
  Notify notify = nullptr;
  void* user_data = nullptr;
};

void CL_CALLBACK build_ended(cl_program program, void* user_data) {
  const Build build = *static_cast<Build*>(user_data);
  delete static_cast<Build*>(user_data);
  const std::int64_t end_ns = now_ns();
  const Outcome outcome = outcome_of(program);
  report_call(Kind::call, build.name, build.begin_ns, end_ns, outcome.status, outcome.log);
  build.notify(program, build.user_data);
}

// Calls call(notify, user_data). Where the program wants to be notified, that goes through us. A
// driver that refuses the build may never tell anybody: the few bytes are left behind then.
template <typename Call>
cl_int build(const char* api, const char* in_background, cl_program program, Notify notify,
             void* user_data, Call call) {
  auto* const ours = notify == nullptr ? nullptr
                                       : new (std::nothrow)
                                             Build{in_background, now_ns(), notify, user_data};
  const std::int64_t begin_ns = now_ns();
  const cl_int status = ours == nullptr ? call(notify, user_data) : call(&build_ended, ours);
  const std::int64_t end_ns = now_ns();
  const bool is_told_here = status != CL_SUCCESS && ours == nullptr;
  const Outcome outcome = is_told_here ? outcome_of(program) : Outcome{};
  report_call(Kind::call, api, begin_ns, end_ns, status, outcome.log);
  return status;
}

}  // namespace

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, Notify notify, void* user_data) {
  return build("clBuildProgram", "clBuildProgram (in the background)", program, notify, user_data,
               [&](Notify told, void* with) {
                 return driver.clBuildProgram(program, count, devices, options, told, with);
               });
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** header_names,
                                   Notify notify, void* user_data) {
  return build("clCompileProgram", "clCompileProgram (in the background)", program, notify,
               user_data, [&](Notify told, void* with) {
                 return driver.clCompileProgram(program, count, devices, options, header_count,
                                                headers, header_names, told, with);
               });
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint program_count,
                                    const cl_program* programs, Notify notify, void* user_data,
                                    cl_int* error) {
  auto* const ours = notify == nullptr ? nullptr
                                       : new (std::nothrow)
                                             Build{"clLinkProgram (in the background)", now_ns(),
                                                   notify, user_data};
  cl_int status = CL_SUCCESS;
  const std::int64_t begin_ns = now_ns();
  const cl_program linked = driver.clLinkProgram(context, count, devices, options, program_count,
                                                 programs, ours == nullptr ? notify : &build_ended,
                                                 ours == nullptr ? user_data : ours, &status);
  const std::int64_t end_ns = now_ns();
  const Outcome outcome = status != CL_SUCCESS ? outcome_of(linked) : Outcome{};
  report_call(Kind::call, "clLinkProgram", begin_ns, end_ns, status, outcome.log);
  if (error != nullptr) *error = status;
  return linked;
}

}  // namespace fathom::record::opencl
