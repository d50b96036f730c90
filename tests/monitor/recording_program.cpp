#include <chrono>
#include <cstdio>
#include <thread>

#include "fathom/monitor.h"

// Records a session of the demo into the folder it is given until somebody ends it.
int main(int, char** arguments) {
  fathom::MonitorConfig config;
  config.demo = true;
  config.monitoring_interval_seconds = 0.02;
  config.output_dir = arguments[1];
  fathom::Monitor monitor(config);
  monitor.start();
  const std::string id = monitor.start_session("to be killed");
  std::puts(id.c_str());
  std::fflush(stdout);
  while (true) {
    monitor.track_inference(5, id);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}
