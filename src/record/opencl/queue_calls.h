#pragma once

#include "record/opencl/queues.h"

namespace fathom::record::opencl {

using CreateQueue = cl_command_queue(CL_API_CALL*)(cl_context, cl_device_id,
                                                   const cl_queue_properties*, cl_int*);

// Makes a queue whose commands are stamped, by the driver's function of this signature.
cl_command_queue create_profiled_queue(CreateQueue create, const char* api, cl_context context,
                                       cl_device_id device, const cl_queue_properties* properties,
                                       cl_int* error);

}  // namespace fathom::record::opencl
