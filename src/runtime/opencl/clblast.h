#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <optional>
#include <string>

// The functions of CLBlast that the backend calls, found at run time, so that this library runs
// where it is not. As in its clblast_c.h, whose enumerations are numbers here.
namespace fathom::runtime {

inline constexpr int kClblastRowMajor = 101;
inline constexpr int kClblastNotTransposed = 111;

struct Clblast {
  using Multiply = int(int layout, int transposes_a, int transposes_b, std::size_t rows,
                       std::size_t columns, std::size_t inner, float alpha, cl_mem a,
                       std::size_t a_offset, std::size_t a_step, cl_mem b, std::size_t b_offset,
                       std::size_t b_step, float beta, cl_mem c, std::size_t c_offset,
                       std::size_t c_step, cl_command_queue* queue, cl_event* event);
  using MultiplyMany = int(int layout, int transposes_a, int transposes_b, std::size_t rows,
                           std::size_t columns, std::size_t inner, float alpha, cl_mem a,
                           std::size_t a_offset, std::size_t a_step, std::size_t a_stride, cl_mem b,
                           std::size_t b_offset, std::size_t b_step, std::size_t b_stride,
                           float beta, cl_mem c, std::size_t c_offset, std::size_t c_step,
                           std::size_t c_stride, std::size_t batch, cl_command_queue* queue,
                           cl_event* event);
  Multiply* multiply = nullptr;
  MultiplyMany* multiply_many = nullptr;
};

// Nothing where the library is not there or lacks a function. It is never unloaded.
std::optional<Clblast> load_clblast(const std::string& library);

}  // namespace fathom::runtime
