#include "floor.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <cstdlib>

namespace fathom::bench {

struct VisitFloor::Document {
  simdjson::padded_string text;
  simdjson::ondemand::parser parser;
};

namespace {

std::size_t visit(simdjson::ondemand::parser& parser, const simdjson::padded_string& text) {
  simdjson::ondemand::document document = parser.iterate(text);
  std::size_t events = 0;
  for (auto event : document["traceEvents"].get_array()) {
    if (event.error() != simdjson::SUCCESS) std::abort();
    ++events;
  }
  return events;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_line(const std::string& name, double value, double floor, const char* unit) {
  const int digits = floor < 10 ? 3 : 0;
  fmt::print("{}: {:.{}f} {}, floor {:.{}f} {}, ratio {:.2f}\n", name, value, digits, unit, floor,
             digits, unit, value / floor);
}

VisitFloor::VisitFloor(const std::string& path) : document_(std::make_unique<Document>()) {
  if (simdjson::padded_string::load(path).get(document_->text) != simdjson::SUCCESS) std::abort();
  events_ = visit(document_->parser, document_->text);
}

VisitFloor::~VisitFloor() = default;

double VisitFloor::seconds() {
  return seconds_of([&] { visit(document_->parser, document_->text); });
}

std::span<char> VisitFloor::text() {
  return {document_->text.data(), document_->text.size()};
}

}  // namespace fathom::bench
