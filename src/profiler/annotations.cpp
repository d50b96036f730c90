#include "profiler/annotations.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "perfetto/fields.h"

namespace fathom::detail {
namespace {

namespace pf = perfetto;

struct ValueWriter {
  protozero::pbf_writer& out;
  void operator()(bool value) { out.add_bool(pf::debug_annotation::kBool, value); }
  void operator()(std::int64_t value) { out.add_int64(pf::debug_annotation::kInt, value); }
  void operator()(std::uint64_t value) { out.add_uint64(pf::debug_annotation::kUint, value); }
  void operator()(double value) { out.add_double(pf::debug_annotation::kDouble, value); }
  void operator()(const std::string& value) {
    out.add_string(pf::debug_annotation::kString, value);
  }
};

Attribute read_annotation(protozero::pbf_reader field) {
  Attribute attribute("", false);
  while (field.next()) {
    switch (field.tag()) {
      case pf::debug_annotation::kName:
        attribute.name = field.get_string();
        break;
      case pf::debug_annotation::kBool:
        attribute.value = field.get_bool();
        break;
      case pf::debug_annotation::kInt:
        attribute.value = field.get_int64();
        break;
      case pf::debug_annotation::kUint:
        attribute.value = field.get_uint64();
        break;
      case pf::debug_annotation::kDouble:
        attribute.value = field.get_double();
        break;
      case pf::debug_annotation::kString:
        attribute.value = field.get_string();
        break;
      default:
        field.skip();
    }
  }
  return attribute;
}

}  // namespace

void append_annotation(std::string& out, const Attribute& attribute) {
  protozero::pbf_writer event(out);
  protozero::pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_string(pf::debug_annotation::kName, attribute.name);
  std::visit(ValueWriter{annotation}, attribute.value);
}

std::vector<Attribute> read_annotations(std::string_view annotations) {
  std::vector<Attribute> attributes;
  protozero::pbf_reader event(annotations.data(), annotations.size());
  while (event.next(pf::track_event::kDebugAnnotations)) {
    attributes.push_back(read_annotation(event.get_message()));
  }
  return attributes;
}

}  // namespace fathom::detail
