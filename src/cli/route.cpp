#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "fathom/router.h"
#include "report/json/document.h"
#include "runtime/machine_profile.h"

namespace fathom::cli {
namespace {

constexpr const char* kRouteNotes = R"(
OPERATION is xor, matmul, add, multiply, relu, saxpy, reduce or graph_search. SIZE is the number of
elements; of matmul, the edge of the matrices; of graph_search, the number of edges. The answer comes
from what `fathom tune` measured on this machine.

Examples:
  fathom route matmul 1024
  fathom route xor 5 --json
  fathom route add 1000000 --where opencl:0     data is on the device already
  FATHOM_ROUTE='matmul=cpu' fathom route matmul 1024)";

struct RouteOptions {
  std::string operation;
  double size = 0;
  std::string where;
  Outputs outputs;
};

// What the terminal and JSON show.
struct Answer {
  const Router& router;
  Route route;
  bool is_measured = false;
};

std::string to_json(const Answer& answer) {
  std::string text;
  base::JsonWriter json(text);
  const auto& devices = answer.router.devices();
  report::begin_document(json, "route");
  json.key("operation").value(name_of(answer.route.operation));
  json.key("size").value(answer.route.size);
  json.key("where").value(devices[answer.route.where].name);
  json.key("device").value(devices[answer.route.device].name);
  json.key("expected_ns").value(answer.route.expected_ns);
  json.key("reason").value(answer.router.reason(answer.route));
  json.key("is_measured").value(answer.is_measured);
  json.key("devices").begin_array();
  for (DeviceIndex device = 0; device < devices.size(); ++device) {
    json.begin_object().key("name").value(devices[device].name);
    json.key("expected_ns")
        .value(answer.router.expected_ns(answer.route.operation, answer.route.size, device,
                                         answer.route.where));
    json.end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

std::string to_text(const Answer& answer, std::size_t width) {
  const auto& devices = answer.router.devices();
  std::string text = base::printable(answer.router.reason(answer.route)) + "\n\n";
  base::Table table({"device", "with data here", "with data on the host"});
  for (DeviceIndex device = 0; device < devices.size(); ++device) {
    const auto time = [&](DeviceIndex where) {
      const auto ns =
          answer.router.expected_ns(answer.route.operation, answer.route.size, device, where);
      return ns ? base::format_duration(*ns) : std::string("too little memory");
    };
    table.row({devices[device].name, time(device), time(kHost)});
  }
  text += table.text(width);
  if (!answer.is_measured) {
    text +=
        "\nNothing was measured on this machine yet: these are guesses. To measure: fathom tune\n";
  }
  return text;
}

Ending run(RouteOptions options, Files& files) {
  resolve(options.outputs, files);
  const auto operation = operation_named(options.operation);
  if (!operation) {
    throw base::Error(fmt::format("'{}'", options.operation), "unknown operation",
                      "There are xor, matmul, add, multiply, relu, saxpy, reduce, graph_search");
  }
  const Router router = Router::of_this_machine({.exploration_share = 0});
  DeviceIndex where = kHost;
  if (!options.where.empty()) {
    const auto found = router.device_named(options.where);
    if (!found) {
      std::string names;
      for (const DeviceModel& device : router.devices()) {
        names += (names.empty() ? "" : ", ") + device.name;
      }
      throw base::Error(fmt::format("'{}'", options.where), "unknown device",
                        "There are: " + names);
    }
    where = *found;
  }
  const Answer answer = {router, router.route(*operation, options.size, where),
                         router.is_calibrated(*operation, kHost)};
  if (options.outputs.wants_json) write_json(to_json(answer), options.outputs.json, files);
  if (options.outputs.wants_text()) {
    write_text(to_text(answer, base::terminal_width(stdout)), {}, files);
  }
  return {};
}

}  // namespace

Command route_command() {
  auto options = std::make_shared<RouteOptions>();
  Command command = {"route", "Where an operation of a size runs fastest, and why", kRouteNotes};
  command.positional("OPERATION", &options->operation, "What is computed");
  command.positional("SIZE", &options->size, "How much of it");
  command.options.back().range = {.least = 1, .most = 1e15};
  command.option("--where", &options->where, "The device where the data is; the host by default");
  command.options.back().type = "DEVICE";
  command.json(options->outputs, "The answer as JSON; to a file if one is named",
               JsonWord::is_a_file);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
