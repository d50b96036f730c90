#include "analyze/efficiency/op_args.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

struct KnownType {
  std::string_view name;
  int bytes;
  bool is_float;
};

// As operations and as collectives name them.
constexpr std::array kTypes = {
    KnownType{"float", 4, true},          KnownType{"Float", 4, true},
    KnownType{"c10::BFloat16", 2, true},  KnownType{"BFloat16", 2, true},
    KnownType{"c10::Half", 2, true},      KnownType{"Half", 2, true},
    KnownType{"double", 8, true},         KnownType{"Double", 8, true},
    KnownType{"long", 8, false},          KnownType{"Long", 8, false},
    KnownType{"long int", 8, false},      KnownType{"int", 4, false},
    KnownType{"Int", 4, false},           KnownType{"short", 2, false},
    KnownType{"short int", 2, false},     KnownType{"Short", 2, false},
    KnownType{"bool", 1, false},          KnownType{"Bool", 1, false},
    KnownType{"unsigned char", 1, false}, KnownType{"Byte", 1, false},
    KnownType{"signed char", 1, false},   KnownType{"Char", 1, false},
};

const KnownType* known_type(std::string_view type) {
  const auto known = std::ranges::find(kTypes, type, &KnownType::name);
  return known == kTypes.end() ? nullptr : &*known;
}

bool is_fp8(std::string_view type) {
  return type.find("Float8_") != type.npos;
}

// The elements of a JSON array, as written.
std::vector<std::string_view> elements_of(std::string_view array) {
  std::vector<std::string_view> found;
  base::JsonScanner scan(array, base::JsonScanner::Mode::lenient);
  if (!scan.take('[') || scan.take(']')) return found;
  do {
    const auto value = scan.value();
    if (!value) return {};
    found.push_back(*value);
  } while (scan.take(','));
  return found;
}

std::string_view without_quotes(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

void set_type(OpInput& input, std::string_view type) {
  const KnownType* known = known_type(type);
  input.bytes = bytes_of_type(type);
  input.is_float = (known != nullptr && known->is_float) || is_fp8(type);
}

}  // namespace

double OpInput::elements() const {
  double all = 1;
  for (const std::int64_t dim : dims) all *= static_cast<double>(dim);
  return all;
}

int bytes_of_type(std::string_view type) {
  if (is_fp8(type)) return 1;
  const KnownType* known = known_type(type);
  return known == nullptr ? 0 : known->bytes;
}

std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> found;
  for (const std::string_view element : elements_of(list)) {
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(element.data(), element.data() + element.size(), number);
    if (error != std::errc() || end != element.data() + element.size()) return {};
    found.push_back(number);
  }
  return found;
}

std::vector<OpInput> op_inputs(std::string_view args) {
  std::vector<OpInput> inputs;
  std::vector<std::string_view> types;
  std::vector<std::string_view> concrete;
  const auto mode = base::JsonScanner::Mode::lenient;
  base::for_each_member(args, mode, [&](std::string_view key, std::string_view value) {
    if (key == "Input Dims") {
      for (const std::string_view each : elements_of(value)) {
        inputs.emplace_back().dims = numbers_in(each);
      }
    } else if (key == "Input type") {
      types = elements_of(value);
    } else if (key == "Concrete Inputs") {
      concrete = elements_of(value);
    }
  });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < types.size()) set_type(inputs[i], without_quotes(types[i]));
    if (i < concrete.size()) inputs[i].concrete = without_quotes(concrete[i]);
  }
  return inputs;
}

}  // namespace fathom::analyze
