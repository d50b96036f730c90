// The folder: /api/files, /api/profiler/…, /trace/…

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "report/compile_report.h"
#include "report/page/compile.h"
#include "serve/answers.h"
#include "serve/routes.h"
#include "trace/read/input.h"

namespace fathom::serve {
namespace {

void write_file(base::JsonWriter& json, const FileInfo& file) {
  json.begin_object().key("name").value(file.name).key("bytes").value(file.bytes);
  json.key("modified_ns").value(file.modified_ns);
  json.key("is_openable").value(file.is_openable).end_object();
}

Response no_such_file() {
  return error_answer(404, "There is no file of this name in the folder");
}

// What is made of a file, or why there is nothing.
template <typename Work>
Response made_or_refused(Work work) {
  try {
    return work();
  } catch (const NoSuchFile&) {
    return no_such_file();
  } catch (const base::Error& error) {
    return error_answer(422, error.what());
  } catch (const std::bad_alloc&) {
    return error_answer(422, "There is not enough memory for this file");
  }
}

// What a command says of a file.
template <typename Answer>
Response of_file(Services& services, const std::string& name, Document which, Answer answer) {
  if (services.analyses == nullptr) return no_such_file();
  return made_or_refused([&] { return answer(services.analyses->document(name, which)); });
}

// The log of torch.compile of one process.
report::CompileReport compile_report(const OpenFile& file, const std::string& name) {
  report::CompileReport report;
  report.source = name;
  std::vector<analyze::CompileLog> logs;
  logs.push_back(analyze::read_compile_log(*trace::Input::open(file.get(), name)));
  report.found = analyze::compile_findings(std::move(logs));
  return report;
}

Response analysis(Services& services, Call& call, Document which) {
  return of_file(services, call.target.value("file").value_or(""), which,
                 [](std::shared_ptr<const std::string> json) {
                   return ready_answer(std::move(json), "application/json");
                 });
}

}  // namespace

Response get_files(Services& services, Call&) {
  const Listing listing = services.folder == nullptr ? Listing() : services.folder->list();
  std::string text;
  base::JsonWriter json(text);
  begin_answer(json, "Files").key("files").begin_array();
  for (const FileInfo& file : listing.files) write_file(json, file);
  json.end_array().key("is_complete").value(listing.is_complete);
  if (services.folder != nullptr) json.key("upload_limit_bytes").value(services.upload_limit);
  json.end_object();
  return json_answer(200, std::move(text));
}

Response uploaded(Services& services, Upload& upload) {
  const auto name = upload.finish();
  const auto file = name ? services.folder->look_at(*name) : std::nullopt;
  if (!file) return error_answer(507, "The file cannot be kept: " + upload.problem());
  std::string text;
  base::JsonWriter json(text);
  write_file(json, *file);
  return json_answer(201, std::move(text));
}

Response get_trace_page(Services& services, Call& call) {
  const std::string& name = call.parameters.front();
  if (services.folder == nullptr) return no_such_file();
  return made_or_refused([&] {
    const OpenFile file = services.folder->open(name);
    if (!file.is_open()) throw NoSuchFile();
    if (is_compile_log(file, name)) {
      return page_answer(200, std::make_shared<std::string>(report::compile_page(
                                  compile_report(file, name), {{"server", "{}"}})));
    }
    return page_answer(200, services.analyses->document(name, Document::page));
  });
}

Response get_flame(Services& services, Call& call) {
  return analysis(services, call, Document::flame);
}
Response get_memory(Services& services, Call& call) {
  return analysis(services, call, Document::memory);
}
Response get_timeline(Services& services, Call& call) {
  return analysis(services, call, Document::timeline);
}
Response get_kernels(Services& services, Call& call) {
  return analysis(services, call, Document::kernels);
}
Response get_hta(Services& services, Call& call) {
  return analysis(services, call, Document::hta);
}
Response get_compile(Services& services, Call& call) {
  if (services.folder == nullptr) return no_such_file();
  return made_or_refused([&] {
    const std::string name = call.target.value("file").value_or("");
    const OpenFile file = services.folder->open(name);
    if (!file.is_open()) throw NoSuchFile();
    return json_answer(200, to_json(compile_report(file, name)));
  });
}

}  // namespace fathom::serve
