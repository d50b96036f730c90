#pragma once

#include <string>

// No command writes over what it reads, by whatever name or link: of two lines that name the same
// file, the second throws base::Error.
namespace fathom::cli {

void will_read(const std::string& path);
void will_write(const std::string& path);  // as early as it is known, before there is work to lose
void expect_no_input(const std::string& path);  // of a file that is written first and then read

}  // namespace fathom::cli
