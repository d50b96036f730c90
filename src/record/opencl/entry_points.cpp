#include "record/opencl/entry_points.h"

#include "record/opencl/driver.h"

namespace fathom::record::opencl {

void install_entry_points(cl_icd_dispatch& table) {
  replace(table.clEnqueueReadBuffer, &enqueue_read_buffer);
  replace(table.clEnqueueWriteBuffer, &enqueue_write_buffer);
  replace(table.clEnqueueReadBufferRect, &enqueue_read_buffer_rect);
  replace(table.clEnqueueWriteBufferRect, &enqueue_write_buffer_rect);
  replace(table.clEnqueueCopyBuffer, &enqueue_copy_buffer);
  replace(table.clEnqueueCopyBufferRect, &enqueue_copy_buffer_rect);
  replace(table.clEnqueueFillBuffer, &enqueue_fill_buffer);
  replace(table.clEnqueueMapBuffer, &enqueue_map_buffer);
  replace(table.clEnqueueUnmapMemObject, &enqueue_unmap_mem_object);
  replace(table.clEnqueueMigrateMemObjects, &enqueue_migrate_mem_objects);

  replace(table.clEnqueueReadImage, &enqueue_read_image);
  replace(table.clEnqueueWriteImage, &enqueue_write_image);
  replace(table.clEnqueueCopyImage, &enqueue_copy_image);
  replace(table.clEnqueueCopyImageToBuffer, &enqueue_copy_image_to_buffer);
  replace(table.clEnqueueCopyBufferToImage, &enqueue_copy_buffer_to_image);
  replace(table.clEnqueueFillImage, &enqueue_fill_image);
  replace(table.clEnqueueMapImage, &enqueue_map_image);

  replace(table.clCreateBuffer, &create_buffer);
  replace(table.clCreateBufferWithProperties, &create_buffer_with_properties);
  replace(table.clCreateImage, &create_image);
  replace(table.clCreateImageWithProperties, &create_image_with_properties);
  replace(table.clCreateImage2D, &create_image_2d);
  replace(table.clCreateImage3D, &create_image_3d);
  replace(table.clCreatePipe, &create_pipe);

  replace(table.clSVMAlloc, &svm_alloc);
  replace(table.clSVMFree, &svm_free);
  replace(table.clEnqueueSVMFree, &enqueue_svm_free);
  replace(table.clEnqueueSVMMemcpy, &enqueue_svm_memcpy);
  replace(table.clEnqueueSVMMemFill, &enqueue_svm_mem_fill);
  replace(table.clEnqueueSVMMap, &enqueue_svm_map);
  replace(table.clEnqueueSVMUnmap, &enqueue_svm_unmap);
  replace(table.clEnqueueSVMMigrateMem, &enqueue_svm_migrate_mem);

  replace(table.clEnqueueNDRangeKernel, &enqueue_nd_range_kernel);
  replace(table.clEnqueueTask, &enqueue_task);
  replace(table.clEnqueueNativeKernel, &enqueue_native_kernel);
  replace(table.clCreateKernel, &create_kernel);
  replace(table.clCreateKernelsInProgram, &create_kernels_in_program);
  replace(table.clCloneKernel, &clone_kernel);

  replace(table.clBuildProgram, &build_program);
  replace(table.clCompileProgram, &compile_program);
  replace(table.clLinkProgram, &link_program);

  replace(table.clCreateCommandQueue, &create_queue);
  replace(table.clCreateCommandQueueWithProperties, &create_queue_with_properties);
  replace(table.clReleaseCommandQueue, &release_queue);
  replace(table.clReleaseContext, &release_context);
  replace(table.clSetCommandQueueProperty, &set_queue_property);

  replace(table.clGetEventProfilingInfo, &get_event_profiling_info);
  replace(table.clGetEventInfo, &get_event_info);
  replace(table.clGetCommandQueueInfo, &get_queue_info);

  replace(table.clFinish, &finish);
  replace(table.clWaitForEvents, &wait_for_events);
  replace(table.clEnqueueMarker, &enqueue_marker);
  replace(table.clEnqueueMarkerWithWaitList, &enqueue_marker_with_wait_list);
  replace(table.clEnqueueBarrierWithWaitList, &enqueue_barrier_with_wait_list);

  replace(table.clGetExtensionFunctionAddressForPlatform, &get_extension_address_for_platform);
  replace(table.clGetExtensionFunctionAddress, &get_extension_address);
}

}  // namespace fathom::record::opencl
