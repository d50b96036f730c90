#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/json_writer.h"
#include "fathom/figures.h"

// The fields of profile JSON: which there are, what each is called and in which unit it is written.
// Both writers and the reader go by these lists, and a test holds docs/profile.schema.json to them.
namespace fathom::base {

enum class FieldUnit : std::uint8_t { count, ms, mb, share };

// Of an operation, in "summary".
struct OperationField {
  std::string_view name;
  FieldUnit unit = FieldUnit::count;
  std::string_view older_name;  // of other profilers; empty where there is none
  // As it is inside: a count, nanoseconds, bytes, or 0 to 1.
  std::optional<double> (*get)(const OperationFigures& figures) = nullptr;
  void (*set)(OperationFigures& figures, double value) = nullptr;  // null: it follows from others
};
std::span<const OperationField> operation_fields();
const OperationField* find_operation_field(std::string_view name);

// How many of what is inside are one of what is written.
double size_of(FieldUnit unit);

// Of a scope, in "entries".
struct CallField {
  std::string_view name;
  FieldUnit unit = FieldUnit::share;
  std::optional<double> (*get)(const CallFigures& figures) = nullptr;  // as it is written
  std::optional<std::int64_t> CallFigures::*member = nullptr;  // null: it follows from others
};
std::span<const CallField> call_fields();
const CallField* find_call_field(std::string_view name);

// As members of the object that is open.
enum class Unknown : std::uint8_t { is_null, is_left_out };
void write_figures(JsonWriter& json, const OperationFigures& figures, Unknown unknown);
void write_figures(JsonWriter& json, const CallFigures& figures, Unknown unknown);

}  // namespace fathom::base
