#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace fathom::bench {

double seconds_of(const std::function<void()>& work);

// "NAME: VALUE UNIT, floor FLOOR UNIT, ratio R": the line that is read.
void print_line(const std::string& name, double value, double floor, const char* unit);

// What reading a trace cannot be faster than: one thread of simdjson visiting every event once, one
// after the other, looking into none, of a file that is in memory already.
class VisitFloor {
 public:
  explicit VisitFloor(const std::string& path);
  ~VisitFloor();
  VisitFloor(const VisitFloor&) = delete;
  VisitFloor& operator=(const VisitFloor&) = delete;

  std::size_t events() const { return events_; }
  double seconds();  // of one visit; the parser and its memory are used again

  std::span<char> text();  // the file

 private:
  struct Document;
  std::unique_ptr<Document> document_;
  std::size_t events_ = 0;
};

}  // namespace fathom::bench
