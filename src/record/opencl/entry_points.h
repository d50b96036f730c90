#pragma once

#include <CL/cl_icd.h>

#include <type_traits>

namespace fathom::record::opencl {

// Our functions in place of the loader's, each of the type of the entry that it replaces.
template <typename Entry>
using InPlaceOf = std::remove_pointer_t<Entry>;

// buffers.cpp
InPlaceOf<cl_api_clEnqueueReadBuffer> enqueue_read_buffer;
InPlaceOf<cl_api_clEnqueueWriteBuffer> enqueue_write_buffer;
InPlaceOf<cl_api_clEnqueueReadBufferRect> enqueue_read_buffer_rect;
InPlaceOf<cl_api_clEnqueueWriteBufferRect> enqueue_write_buffer_rect;
InPlaceOf<cl_api_clEnqueueCopyBuffer> enqueue_copy_buffer;
InPlaceOf<cl_api_clEnqueueCopyBufferRect> enqueue_copy_buffer_rect;
InPlaceOf<cl_api_clEnqueueFillBuffer> enqueue_fill_buffer;
InPlaceOf<cl_api_clEnqueueMapBuffer> enqueue_map_buffer;
InPlaceOf<cl_api_clEnqueueUnmapMemObject> enqueue_unmap_mem_object;
InPlaceOf<cl_api_clEnqueueMigrateMemObjects> enqueue_migrate_mem_objects;

// images.cpp
InPlaceOf<cl_api_clEnqueueReadImage> enqueue_read_image;
InPlaceOf<cl_api_clEnqueueWriteImage> enqueue_write_image;
InPlaceOf<cl_api_clEnqueueCopyImage> enqueue_copy_image;
InPlaceOf<cl_api_clEnqueueCopyImageToBuffer> enqueue_copy_image_to_buffer;
InPlaceOf<cl_api_clEnqueueCopyBufferToImage> enqueue_copy_buffer_to_image;
InPlaceOf<cl_api_clEnqueueFillImage> enqueue_fill_image;
InPlaceOf<cl_api_clEnqueueMapImage> enqueue_map_image;

// memory_objects.cpp
InPlaceOf<cl_api_clCreateBuffer> create_buffer;
InPlaceOf<cl_api_clCreateBufferWithProperties> create_buffer_with_properties;
InPlaceOf<cl_api_clCreateImage> create_image;
InPlaceOf<cl_api_clCreateImageWithProperties> create_image_with_properties;
InPlaceOf<cl_api_clCreateImage2D> create_image_2d;
InPlaceOf<cl_api_clCreateImage3D> create_image_3d;
InPlaceOf<cl_api_clCreatePipe> create_pipe;

// svm.cpp
InPlaceOf<cl_api_clSVMAlloc> svm_alloc;
InPlaceOf<cl_api_clSVMFree> svm_free;
InPlaceOf<cl_api_clEnqueueSVMFree> enqueue_svm_free;
InPlaceOf<cl_api_clEnqueueSVMMemcpy> enqueue_svm_memcpy;
InPlaceOf<cl_api_clEnqueueSVMMemFill> enqueue_svm_mem_fill;
InPlaceOf<cl_api_clEnqueueSVMMap> enqueue_svm_map;
InPlaceOf<cl_api_clEnqueueSVMUnmap> enqueue_svm_unmap;
InPlaceOf<cl_api_clEnqueueSVMMigrateMem> enqueue_svm_migrate_mem;

// kernels.cpp
InPlaceOf<cl_api_clEnqueueNDRangeKernel> enqueue_nd_range_kernel;
InPlaceOf<cl_api_clEnqueueTask> enqueue_task;
InPlaceOf<cl_api_clEnqueueNativeKernel> enqueue_native_kernel;
InPlaceOf<cl_api_clCreateKernel> create_kernel;
InPlaceOf<cl_api_clCreateKernelsInProgram> create_kernels_in_program;
InPlaceOf<cl_api_clCloneKernel> clone_kernel;

// programs.cpp
InPlaceOf<cl_api_clBuildProgram> build_program;
InPlaceOf<cl_api_clCompileProgram> compile_program;
InPlaceOf<cl_api_clLinkProgram> link_program;

// queue_calls.cpp
InPlaceOf<cl_api_clCreateCommandQueue> create_queue;
InPlaceOf<cl_api_clCreateCommandQueueWithProperties> create_queue_with_properties;
InPlaceOf<cl_api_clReleaseCommandQueue> release_queue;
InPlaceOf<cl_api_clReleaseContext> release_context;
InPlaceOf<cl_api_clSetCommandQueueProperty> set_queue_property;

// queries.cpp
InPlaceOf<cl_api_clGetEventProfilingInfo> get_event_profiling_info;
InPlaceOf<cl_api_clGetEventInfo> get_event_info;
InPlaceOf<cl_api_clGetCommandQueueInfo> get_queue_info;

// sync.cpp
InPlaceOf<cl_api_clFinish> finish;
InPlaceOf<cl_api_clWaitForEvents> wait_for_events;
InPlaceOf<cl_api_clEnqueueMarker> enqueue_marker;
InPlaceOf<cl_api_clEnqueueMarkerWithWaitList> enqueue_marker_with_wait_list;
InPlaceOf<cl_api_clEnqueueBarrierWithWaitList> enqueue_barrier_with_wait_list;

// extensions.cpp
InPlaceOf<decltype(cl_icd_dispatch::clGetExtensionFunctionAddressForPlatform)>
    get_extension_address_for_platform;
InPlaceOf<cl_api_clGetExtensionFunctionAddress> get_extension_address;

// Puts them into the table that programs will call, where the loader has such an entry.
void install_entry_points(cl_icd_dispatch& table);

}  // namespace fathom::record::opencl
