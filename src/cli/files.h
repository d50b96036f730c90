#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/read/input.h"
#include "trace/trace.h"

namespace fathom::cli {

// As a file to read, standard input; as one to write, standard output. A file of that name is ./-
inline constexpr const char* kStandard = "-";

// The files of one call of the program. No command writes over what it reads, by whatever name or
// link: of two lines that name the same file, the second throws base::Error. Standard input is read
// once, and one answer goes to standard output.
class Files {
 public:
  void will_read(const std::string& path);
  void will_write(const std::string& path);  // as early as it is known: there is work to lose
  void expect_no_input(const std::string& path) const;  // of what is written first and then read

  // Opens what is no trace. Of what is opened by name, the name: that of standard input for "-".
  std::shared_ptr<const trace::Input> open(const std::string& path);
  std::string name_to_open(const std::string& path);

  // Reads a trace and tells, on standard error, what was lost of it: one line per kind of loss.
  trace::Trace load(const std::string& path);

  // Whether compressed data was cut off or damaged in any input so far. What could be unpacked of
  // it is shown all the same, but a script must learn that it was not the whole: the status is 2
  // then, as gunzip's is not 0.
  bool input_was_damaged() const { return input_was_damaged_; }

 private:
  bool is_standard_input(const std::string& path);  // which is then read

  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  bool input_was_damaged_ = false;
  bool is_standard_input_read_ = false;
};

}  // namespace fathom::cli
