// Programs: made, compiled, linked. A cold build is often the whole story of a slow start.

#include <new>

#include "record/opencl/calls.h"

namespace fathom::record::opencl {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

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
  report_call(Kind::call, build.name, build.begin_ns, now_ns(), CL_SUCCESS);
  build.notify(program, build.user_data);
}

// Calls call(notify, user_data). Where the program wants to be notified, that goes through us. A
// driver that refuses the build may never tell anybody: the few bytes are left behind then.
template <typename Call>
auto build(const char* api, const char* in_background, Notify notify, void* user_data, Call call,
           const cl_int* error = nullptr) {
  auto* const ours = notify == nullptr ? nullptr
                                       : new (std::nothrow)
                                             Build{in_background, now_ns(), notify, user_data};
  return timed(
      Kind::call, api,
      [&] { return ours == nullptr ? call(notify, user_data) : call(&build_ended, ours); }, error);
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, Notify notify, void* user_data) {
  return build("clBuildProgram", "clBuildProgram (in the background)", notify, user_data,
               [&](Notify notify, void* with) {
                 return driver.clBuildProgram(program, count, devices, options, notify, with);
               });
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** header_names,
                                   Notify notify, void* user_data) {
  return build("clCompileProgram", "clCompileProgram (in the background)", notify, user_data,
               [&](Notify notify, void* with) {
                 return driver.clCompileProgram(program, count, devices, options, header_count,
                                                headers, header_names, notify, with);
               });
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint program_count,
                                    const cl_program* programs, Notify notify, void* user_data,
                                    cl_int* error) {
  return build(
      "clLinkProgram", "clLinkProgram (in the background)", notify, user_data,
      [&](Notify notify, void* with) {
        return driver.clLinkProgram(context, count, devices, options, program_count, programs,
                                    notify, with, error);
      },
      error);
}

}  // namespace

void install_programs(cl_icd_dispatch& table) {
  replace(table.clBuildProgram, &build_program);
  replace(table.clCompileProgram, &compile_program);
  replace(table.clLinkProgram, &link_program);
  replace_timed<&cl_icd_dispatch::clCreateProgramWithSource, "clCreateProgramWithSource">(table);
  replace_timed<&cl_icd_dispatch::clCreateProgramWithBinary, "clCreateProgramWithBinary">(table);
  replace_timed<&cl_icd_dispatch::clCreateProgramWithIL, "clCreateProgramWithIL">(table);
  replace_timed<&cl_icd_dispatch::clCreateProgramWithBuiltInKernels,
                "clCreateProgramWithBuiltInKernels">(table);
  replace_timed<&cl_icd_dispatch::clReleaseProgram, "clReleaseProgram">(table);
}

}  // namespace fathom::record::opencl
