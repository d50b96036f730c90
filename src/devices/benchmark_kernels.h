#pragma once

// The kernels of benchmark.cpp.
namespace fathom::devices {

constexpr int kChainLength = 256;  // of kernel `chain`: steps of each of its values
constexpr int kChainValues = 8;    // at a time, per work item
constexpr int kMatmulTile = 64;    // a matrix is a multiple of this wide
constexpr int kMatmulGroup = 16;   // work items per group, each way

constexpr const char* kBenchmarkSource = R"(
__kernel void nothing(int unused) {}

__kernel void triad(__global const float4* a, __global const float4* b, __global float4* c, float s) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + s * b[i];
}

// Values that do not depend on each other, so that units with many stages stay busy.
__kernel void chain(__global float* out, float m, float k) {
  const size_t item = get_global_id(0);
  float x0 = item, x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3;
  float x4 = x0 + 4, x5 = x0 + 5, x6 = x0 + 6, x7 = x0 + 7;
  for (int i = 0; i < 256; ++i) {
    x0 = mad(x0, m, k); x1 = mad(x1, m, k); x2 = mad(x2, m, k); x3 = mad(x3, m, k);
    x4 = mad(x4, m, k); x5 = mad(x5, m, k); x6 = mad(x6, m, k); x7 = mad(x7, m, k);
  }
  out[item] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
}

// A group makes a tile of 64 by 64, an item of it 4 by 4; both inputs go through local memory, 16
// deep at a time.
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(int n, __global const float* a, __global const float* b, __global float* c) {
  __local float left[16][64];
  __local float right[16][64];
  const int x = get_local_id(0), y = get_local_id(1), item = y * 16 + x;
  const int row = get_group_id(1) * 64, column = get_group_id(0) * 64;
  float sum[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum[i][j] = 0;
  for (int deep = 0; deep < n; deep += 16) {
    for (int part = 0; part < 4; ++part) {
      const int e = item + part * 256;
      left[e % 16][e / 16] = a[(row + e / 16) * n + deep + e % 16];
      right[e / 64][e % 64] = b[(deep + e / 64) * n + column + e % 64];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) {
      float u[4], v[4];
      for (int i = 0; i < 4; ++i) {
        u[i] = left[k][y + 16 * i];
        v[i] = right[k][x + 16 * i];
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = mad(u[i], v[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + y + 16 * i) * n + column + x + 16 * j] = sum[i][j];
}
)";

}  // namespace fathom::devices
