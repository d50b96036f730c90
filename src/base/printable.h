#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace fathom::base {

// What does something else on a terminal than to show a character, or shows it elsewhere than it
// stands: control characters (C0, DEL, C1), marks that turn the direction of writing, line
// separators.
bool acts_on_a_terminal(char32_t code_point);

// The character that valid UTF-8 of this length at text[0] stands for.
char32_t code_point(std::string_view text, std::size_t length);

// Text of a file or of the command line as one line that a terminal may be shown: whatever acts on
// a terminal and every byte that is not UTF-8 becomes U+FFFD, a tab or a line break a space.
std::string printable(std::string_view text);

// The one way out to people: writes text on a stream, line by line as it is, and the rest of it
// printable. Never throws; a stream that fails says so by std::ferror.
void say(std::FILE* stream, std::string_view text);

}  // namespace fathom::base
