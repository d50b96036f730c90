#pragma once

#include "fathom/operation.h"

// What an operation of a size has to do at least, from its definition. Sizes as in Operation.
namespace fathom::runtime {

double flops_of(Operation operation, double size);
double bytes_in(Operation operation, double size);   // that it reads; as transferred to a device
double bytes_out(Operation operation, double size);  // that it writes; as transferred back
double growth_of(Operation operation);               // large sizes take size to the power of this
inline double bytes_touched(Operation operation, double size) {
  return bytes_in(operation, size) + bytes_out(operation, size);
}

// The edge of the square whose product costs as much as all of the batch.
double size_of(const MatmulShape& shape);
// What all of the batch reads and writes, which of anything but one square is more than
// bytes_touched() of that edge.
double bytes_of(const MatmulShape& shape);

// On the device, without transfers, if it does what its model says.
double modelled_ns(const DeviceModel& model, Operation operation, double size);
// Of one transfer; and of all that an operation needs whose data are on the host: `bytes` in all,
// or as many as it touches at a size.
double modelled_transfer_ns(const DeviceModel& model, double bytes);
double modelled_transfers_of(const DeviceModel& model, Operation operation, double bytes);
double modelled_transfers_ns(const DeviceModel& model, Operation operation, double size);

// The models that we begin with where nothing is known of a device; that of a GPU, or of a CPU that
// OpenCL calls a device.
DeviceModel default_cpu();
DeviceModel default_device(const std::string& name, bool is_cpu);

}  // namespace fathom::runtime
