// What cuBLAS does not have. Each thread takes every so many elements, so that any grid will do, and none
// waits for another: the tests run these kernels on the host, one thread after the other.
namespace {

using Index = unsigned long long;

__device__ Index first() {
  return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ Index step() {
  return static_cast<Index>(gridDim.x) * blockDim.x;
}

}  // namespace

extern "C" __global__ void xor_words(unsigned* out, const unsigned* a, const unsigned* b, Index count) {
  for (Index i = first(); i < count; i += step()) out[i] = a[i] ^ b[i];
}

// 0 add, 1 multiply, 2 relu (b is not read), 3 saxpy
extern "C" __global__ void elementwise(float* out, const float* a, const float* b, Index count, int operation,
                                       float alpha) {
  for (Index i = first(); i < count; i += step()) {
    const float x = a[i];
    switch (operation) {
      case 0: out[i] = x + b[i]; break;
      case 1: out[i] = x * b[i]; break;
      case 2: out[i] = x > 0.0f ? x : 0.0f; break;
      default: out[i] = alpha * x + b[i];
    }
  }
}

// Where there is no cuBLAS, and for what it does not take.
extern "C" __global__ void matmul(float* c, const float* a, const float* b, Index rows, Index inner, Index columns,
                                  Index batch, Index step_a, Index step_b, Index step_c) {
  for (Index i = first(); i < rows * columns * batch; i += step()) {
    const Index item = i / (rows * columns);
    const Index row = i / columns % rows;
    const Index column = i % columns;
    const float* from_a = a + item * step_a + row * inner;
    const float* from_b = b + item * step_b + column;
    float sum = 0.0f;
    for (Index k = 0; k < inner; ++k) sum += from_a[k] * from_b[k * columns];
    c[item * step_c + row * columns + column] = sum;
  }
}

// A sum per thread; of those, sum_parts makes few enough to be read back.
extern "C" __global__ void sum(double* sums, const float* a, Index count) {
  double part = 0;
  for (Index i = first(); i < count; i += step()) part += a[i];
  sums[first()] = part;
}

extern "C" __global__ void sum_parts(double* sums, const double* parts, Index count) {
  double part = 0;
  for (Index i = first(); i < count; i += step()) part += parts[i];
  sums[first()] = part;
}

// One level of a breadth-first search. Whoever reaches a node writes the same distance.
extern "C" __global__ void search_level(unsigned* distances, const unsigned* offsets, const unsigned* targets,
                                        Index nodes, unsigned level, unsigned* changed) {
  for (Index node = first(); node < nodes; node += step()) {
    if (distances[node] != level) continue;
    for (unsigned edge = offsets[node]; edge < offsets[node + 1]; ++edge) {
      const unsigned target = targets[edge];
      if (distances[target] != 0xffffffffu) continue;
      distances[target] = level + 1;
      *changed = 1;
    }
  }
}
