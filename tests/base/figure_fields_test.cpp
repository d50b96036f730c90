#include "base/figure_fields.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace fathom::base::figure_fields_test {

using nlohmann::ordered_json;

ordered_json schema_of(const char* definition) {
  std::ifstream file(FATHOM_SOURCE_DIR "/docs/profile.schema.json");
  return ordered_json::parse(file).at("$defs").at(definition).at("properties");
}

bool may_be_null(const ordered_json& property) {
  const ordered_json& type = property.at("type");
  return type.is_array() && std::find(type.begin(), type.end(), "null") != type.end();
}

TEST(FigureFields, OfOperationsAreThoseOfTheSchema) {
  const ordered_json schema = schema_of("summary");
  std::vector<std::string> written;
  for (const OperationField& field : operation_fields()) {
    written.emplace_back(field.name);
    ASSERT_TRUE(schema.contains(field.name)) << field.name;
    const ordered_json& property = schema.at(std::string(field.name));
    const bool is_always_known = field.get(OperationFigures{}).has_value();
    EXPECT_NE(may_be_null(property), is_always_known) << field.name;
    const bool is_integer = property.at("type").dump().find("integer") != std::string::npos;
    EXPECT_EQ(is_integer, field.unit == FieldUnit::count) << field.name;
  }
  std::vector<std::string> described;
  for (const auto& [name, property] : schema.items()) described.push_back(name);
  EXPECT_EQ(described, written);
}

TEST(FigureFields, OfScopesAreThoseOfTheSchema) {
  const ordered_json schema = schema_of("entry");
  std::set<std::string> others = {"operation", "start_time", "end_time", "device",    "backend",
                                  "thread",    "parent",     "failed",   "attributes"};
  for (const CallField& field : call_fields()) {
    ASSERT_TRUE(schema.contains(field.name)) << field.name;
    const bool is_always_known = field.get(CallFigures{}).has_value();
    EXPECT_NE(may_be_null(schema.at(std::string(field.name))), is_always_known) << field.name;
    others.insert(std::string(field.name));
  }
  for (const auto& [name, property] : schema.items()) EXPECT_TRUE(others.contains(name)) << name;
  EXPECT_EQ(schema.size(), others.size());
}

// What is set by one name is got by it, and by no other.
TEST(FigureFields, EachIsAFigureOfItsOwn) {
  for (const OperationField& field : operation_fields()) {
    if (field.set == nullptr) continue;
    OperationFigures figures;
    field.set(figures, 3);
    for (const OperationField& other : operation_fields()) {
      if (&other == &field) {
        EXPECT_EQ(other.get(figures), 3.0) << field.name;
      } else if (other.set != nullptr) {
        EXPECT_EQ(other.get(figures), other.get(OperationFigures{})) << other.name;
      }
    }
    EXPECT_EQ(find_operation_field(field.name), &field);
  }
  EXPECT_EQ(find_operation_field("p95"), find_operation_field("p95_ms"));
  EXPECT_EQ(find_operation_field(""), nullptr);
}

TEST(FigureFields, AreWrittenInTheUnitsOfTheirNames) {
  OperationFigures figures;
  figures.calls = 4;
  figures.total_ns = 8e6;
  figures.peak_memory_bytes = 3 * 1024 * 1024;
  std::string known;
  JsonWriter json(known);
  json.begin_object();
  write_figures(json, figures, Unknown::is_left_out);
  json.end_object();
  EXPECT_EQ(known, R"({"call_count":4,"total_time_ms":8,"avg_time_ms":2,"peak_memory_mb":3})");
  std::string all;
  JsonWriter with_null(all);
  with_null.begin_object();
  write_figures(with_null, figures, Unknown::is_null);
  with_null.end_object();
  EXPECT_EQ(ordered_json::parse(all).size(), operation_fields().size());
}

TEST(FigureFields, OfAScopeFollowFromItsTimesAndBytes) {
  CallFigures figures;
  figures.duration_ns = 4000;
  EXPECT_FALSE(figures.gpu_utilization());
  EXPECT_FALSE(figures.memory_bandwidth_gb_s());
  figures.set_parts({1000, 500, 500, 2000});
  figures.copied_bytes = 1000;
  EXPECT_EQ(figures.gpu_utilization(), 0.25);
  EXPECT_EQ(figures.memory_bandwidth_gb_s(), 2.0);  // bytes a nanosecond: 10^9 bytes a second
}

}  // namespace fathom::base::figure_fields_test
