#include "runtime/opencl/kernels.h"

namespace fathom::runtime {

const char* const opencl_source = R"(
#pragma OPENCL FP_CONTRACT OFF

kernel void xor_words(global uint* out, ulong out_at, global const uint* a, ulong a_at,
                      global const uint* b, ulong b_at, ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) out[out_at + i] = a[a_at + i] ^ b[b_at + i];
}

// 0 add, 1 multiply, 2 relu, 3 saxpy
kernel void elementwise(global float* out, ulong out_at, global const float* a, ulong a_at,
                        global const float* b, ulong b_at, ulong count, int operation,
                        float alpha) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  const float x = a[a_at + i];
  const float y = operation == 2 ? 0.0f : b[b_at + i];
  float result;
  switch (operation) {
    case 0: result = x + y; break;
    case 1: result = x * y; break;
    case 2: result = x > 0.0f ? x : 0.0f; break;
    default: result = alpha * x + y;
  }
  out[out_at + i] = result;
}

// A group computes TILE x TILE elements of c; tiles of a and b pass through local memory.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(global float* c, ulong c_at, global const float* a, ulong a_at,
            global const float* b, ulong b_at, ulong rows, ulong inner, ulong columns,
            ulong step_a, ulong step_b, ulong step_c) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  const size_t x = get_local_id(0);
  const size_t y = get_local_id(1);
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  const size_t item = get_global_id(2);
  a += a_at + item * step_a;
  b += b_at + item * step_b;
  float sum = 0.0f;
  for (ulong begin = 0; begin < inner; begin += TILE) {
    tile_a[y][x] = row < rows && begin + x < inner ? a[row * inner + begin + x] : 0.0f;
    tile_b[y][x] = column < columns && begin + y < inner ? b[(begin + y) * columns + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) c[c_at + item * step_c + row * columns + column] = sum;
}

kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1)))
void sum(global float* sums, ulong sums_at, global const float* a, ulong a_at, ulong count) {
  local float parts[SUM_GROUP];
  const size_t own = get_local_id(0);
  float part = 0.0f;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) part += a[a_at + i];
  parts[own] = part;
  for (uint width = SUM_GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own < width) parts[own] += parts[own + width];
  }
  if (own == 0) sums[sums_at + get_group_id(0)] = parts[0];
}

// One level of a breadth-first search. Whoever reaches a node writes the same distance.
kernel void search_level(global uint* distances, ulong distances_at, global const uint* offsets,
                         ulong offsets_at, global const uint* targets, ulong targets_at,
                         ulong nodes, uint level, global uint* changed, ulong changed_at) {
  const size_t node = get_global_id(0);
  if (node >= nodes || distances[distances_at + node] != level) return;
  const uint end = offsets[offsets_at + node + 1];
  for (uint edge = offsets[offsets_at + node]; edge < end; ++edge) {
    const ulong target = distances_at + targets[targets_at + edge];
    if (distances[target] == 0xffffffffu) {
      distances[target] = level + 1;
      changed[changed_at] = 1;
    }
  }
}
)";

}  // namespace fathom::runtime
