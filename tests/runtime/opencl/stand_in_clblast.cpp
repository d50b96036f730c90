// Stands in for CLBlast: checks how it is called, and multiplies on the host.
#include <CL/cl.h>

#include <cstdlib>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kWrongArguments = -1011;
int calls = 0;

std::vector<float> content_of(cl_command_queue queue, cl_mem buffer) {
  std::size_t bytes = 0;
  clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  std::vector<float> content(bytes / sizeof(float));
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, content.size() * sizeof(float), content.data(), 0,
                      nullptr, nullptr);
  return content;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int stand_in_clblast_calls() {
  return calls;
}

[[gnu::visibility("default")]] int CLBlastSgemmStridedBatched(
    int layout, int transposes_a, int transposes_b, std::size_t rows, std::size_t columns,
    std::size_t inner, float alpha, cl_mem a, std::size_t a_offset, std::size_t a_step,
    std::size_t a_stride, cl_mem b, std::size_t b_offset, std::size_t b_step, std::size_t b_stride,
    float beta, cl_mem c, std::size_t c_offset, std::size_t c_step, std::size_t c_stride,
    std::size_t batch, cl_command_queue* queue, cl_event* event) {
  ++calls;
  if (std::getenv("STAND_IN_CLBLAST_FAILS") != nullptr) return kWrongArguments;
  const bool is_right = layout == 101 && transposes_a == 111 && transposes_b == 111 && alpha == 1 &&
                        beta == 0 && a_step == inner && b_step == columns && c_step == columns &&
                        rows > 0 && columns > 0 && inner > 0 && batch > 0 && event == nullptr;
  if (!is_right) return kWrongArguments;
  const std::vector<float> left = content_of(*queue, a);
  const std::vector<float> right = content_of(*queue, b);
  std::vector<float> result = content_of(*queue, c);
  for (std::size_t i = 0; i < batch; ++i) {
    const float* const of_a = left.data() + a_offset + i * a_stride;
    const float* const of_b = right.data() + b_offset + i * b_stride;
    float* const of_c = result.data() + c_offset + i * c_stride;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k) {
          sum += double{of_a[row * inner + k]} * double{of_b[k * columns + column]};
        }
        of_c[row * columns + column] = static_cast<float>(sum);
      }
    }
  }
  clEnqueueWriteBuffer(*queue, c, CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0,
                       nullptr, nullptr);
  return kSuccess;
}

[[gnu::visibility("default")]] int CLBlastSgemm(
    int layout, int transposes_a, int transposes_b, std::size_t rows, std::size_t columns,
    std::size_t inner, float alpha, cl_mem a, std::size_t a_offset, std::size_t a_step, cl_mem b,
    std::size_t b_offset, std::size_t b_step, float beta, cl_mem c, std::size_t c_offset,
    std::size_t c_step, cl_command_queue* queue, cl_event* event) {
  return CLBlastSgemmStridedBatched(layout, transposes_a, transposes_b, rows, columns, inner, alpha,
                                    a, a_offset, a_step, 0, b, b_offset, b_step, 0, beta, c,
                                    c_offset, c_step, 0, 1, queue, event);
}

}  // extern "C"
