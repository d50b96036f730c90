#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/monitor_settings.h"
#include "monitor/sessions.h"
#include "serve/server.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServeNotes = R"(
The page shows what the GPUs do now, sessions, and the traces of DIR. It is for this machine alone:
another address needs a certificate. Without --token-file a token is made for this run, and the
address that is printed holds it; with --token-file, only the tokens of that file count.
docs/server.md explains tokens, TLS, Prometheus and proxies.

Examples:
  fathom serve                                        what the GPUs of this machine do now
  fathom serve traces/                                and the traces of a folder
  fathom serve --demo                                 two simulated GPUs, to look around
  fathom token metrics --name prometheus --file tokens    then scrape /metrics with it:
  fathom serve --token-file tokens
  fathom serve --address 0.0.0.0 --host gpu1.example --tls-cert cert.pem --tls-key key.pem \
               --token-file tokens)";

struct ServeOptions {
  std::string folder;
  int port = 6970;
  std::string address = "127.0.0.1";
  std::string hosts;  // with commas
  std::string token_file;
  std::string tls_certificate, tls_key;
  std::string audit_log;
  std::size_t upload_limit_mb = 512;
  std::size_t trace_memory_mb = 2048;
  std::size_t requests_per_second = 1000;
  MonitorSettings settings;
  bool may_send_unencrypted = false;
};

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream words(text);
  for (std::string part; std::getline(words, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// One per port, so that servers beside each other do not share it.
std::string usual_audit_log(int port) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  if (state == nullptr && home == nullptr)
    throw base::Error("audit log", "there is no home folder to keep it in", "Name --audit-log");
  const fs::path folder =
      (state != nullptr ? fs::path(state) : fs::path(home) / ".local/state") / "fathom";
  std::error_code failed;
  if (fs::create_directories(folder, failed)) fs::permissions(folder, fs::perms::owner_all, failed);
  if (failed) throw base::Error(folder.string(), failed.message(), "Name another --audit-log");
  return (folder / fmt::format("audit-{}.jsonl", port)).string();
}

serve::ServerOptions server_options(const ServeOptions& options) {
  constexpr std::size_t kMb = std::size_t{1} << 20;
  serve::ServerOptions to;
  to.http.address = options.address;
  to.http.port = static_cast<std::uint16_t>(options.port);
  to.http.tls_certificate = options.tls_certificate;
  to.http.tls_key = options.tls_key;
  to.folder = options.folder;
  to.token_file = options.token_file;
  to.hosts = split_at_commas(options.hosts);
  to.audit_log = options.audit_log.empty() ? usual_audit_log(options.port) : options.audit_log;
  to.may_send_unencrypted = options.may_send_unencrypted;
  to.upload_limit = options.upload_limit_mb * kMb;
  to.trace_memory = options.trace_memory_mb * kMb;
  to.requests_per_second = static_cast<double>(options.requests_per_second);
  return to;
}

void say_where(const serve::Server& server, const ServeOptions& options, bool is_demo) {
  std::string text = fmt::format("\n  {}\n\n", server.url());
  text += server.token().empty()
              ? fmt::format("Log in with a token of {}.", base::printable(options.token_file))
              : "Open this in a browser; the token in it is for this run alone.";
  if (is_demo) text += " The GPUs are a demo and do not exist.";
  base::say(stdout, text + " Ctrl-C ends it.\n");
  std::fflush(stdout);
}

Ending run(const ServeOptions& options, Files& files) {
  const MonitorConfig config = config_of(options.settings, files);
  // One that was named is made at once: nobody should learn of a wrong one from a session that
  // fails.
  if (config.output_dir != MonitorConfig().output_dir)
    monitor::make_session_folder(config.output_dir);
  // Before there are threads, which inherit it: the signals that end it are taken below.
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  Monitor monitor(config);
  const serve::ServerOptions to = server_options(options);
  monitor.start();
  {
    const serve::Server server(monitor, to);
    say_where(server, options, config.demo);
    int signal = 0;
    sigwait(&ending, &signal);
  }
  monitor.stop();
  return {};
}

}  // namespace

Command serve_command() {
  auto options = std::make_shared<ServeOptions>();
  Command command = {"serve",
                     "The dashboard: live GPUs, sessions, traces of a folder, Prometheus metrics",
                     kServeNotes};
  command.options.push_back(
      {.names = "DIR", .target = &options->folder, .what = "A folder of traces to show"});
  command.option("--port", &options->port, "The port to listen on", {0, 65535});
  command.options.push_back({.names = "--address",
                             .target = &options->address,
                             .what = "The IP address to listen on (default 127.0.0.1)",
                             .type = "IP"});
  command.options.push_back(
      {.names = "--host",
       .target = &options->hosts,
       .what = "Other names that browsers may call it by, separated by commas",
       .type = "NAMES"});
  command.option("--token-file", &options->token_file,
                 "Tokens that may log in; fathom token makes them");
  command.option("--tls-cert", &options->tls_certificate, "PEM certificate, with its chain");
  command.option("--tls-key", &options->tls_key, "PEM key of the certificate");
  command.option("--audit-log", &options->audit_log,
                 "Who did what (default ~/.local/state/fathom/audit-PORT.jsonl)");
  add_settings(command, options->settings);
  command.option("--upload-limit", &options->upload_limit_mb,
                 "Largest file that may be uploaded, in MB", {1, 1 << 20});
  command.option("--trace-memory", &options->trace_memory_mb, "MB for opened traces", {1, 1 << 20});
  command.option("--rate-limit", &options->requests_per_second,
                 "Requests per second and address; 0 for no limit", {0});
  command.option("--send-tokens-and-data-unencrypted", &options->may_send_unencrypted,
                 "Allow another --address without TLS: anyone on the network path can read "
                 "everything and log in");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
