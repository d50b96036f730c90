// Every real trace, against an independent parser.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "corpus.h"
#include "sanitized.h"
#include "trace/read.h"
#include "trace/read/chrome/chrome.h"
#include "trace/read/input.h"

namespace fathom::trace::chrome_corpus_test {

// What plain JSON parsing says about the complete events, numbers still as they are written.
struct PlainSpan {
  std::string phase, name, time, duration;
};

// Collects the events: objects that are direct members of the list of events.
class PlainReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<PlainSpan> spans;

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return scalar(text);
  }
  bool string(string_t& value) override { return scalar(value); }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override {
    open_.push_back('{');
    if (is_event()) event_ = {};
    return true;
  }
  bool end_object() override {
    if (is_event() && event_.phase == "X" && !event_.duration.empty()) spans.push_back(event_);
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    if (open_ == "{") in_events_ = key_ == "traceEvents";
    if (open_.empty()) in_events_ = true;
    open_.push_back('[');
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
  bool parse_error(std::size_t at, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    ADD_FAILURE() << at << ' ' << token << ' ' << error.what();
    return false;
  }

 private:
  bool is_event() const { return in_events_ && (open_ == "{[{" || open_ == "[{"); }
  bool scalar(const std::string& text) {
    if (!is_event()) return true;
    if (key_ == "ph") event_.phase = text;
    if (key_ == "name") event_.name = text;
    if (key_ == "ts") event_.time = text;
    if (key_ == "dur") event_.duration = text;
    return true;
  }

  std::string open_;
  std::string key_;
  bool in_events_ = false;
  PlainSpan event_;
};

// Decimal microseconds with up to three decimals → nanoseconds, by moving the point.
std::string nanoseconds_text(const std::string& text) {
  const std::size_t point = text.find('.');
  std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
  EXPECT_LE(fraction.size(), 3U) << text;
  EXPECT_EQ(text.find_first_of("eE"), std::string::npos) << text;
  fraction.resize(3, '0');
  std::string whole = text.substr(0, point) + fraction;
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  return whole;
}

class ChromeCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(ChromeCorpus, HasTheSpansThatPlainParsingFinds) {
  const Trace trace = read_trace(GetParam());
  ASSERT_GT(trace.spans.size(), 0U);
  if (kIsSanitized) return;  // our reader was watched; the other parser takes minutes there
  const auto input = Input::open(GetParam());
  PlainReader plain;
  ASSERT_TRUE(nlohmann::json::sax_parse(input->view(), &plain));
  ASSERT_EQ(trace.spans.size(), plain.spans.size());
  EXPECT_TRUE(trace.warnings.empty());
  std::vector<SpanId> in_file_order(trace.spans.size());
  std::iota(in_file_order.begin(), in_file_order.end(), 0);
  std::sort(in_file_order.begin(), in_file_order.end(),
            [&](SpanId a, SpanId b) { return trace.spans.source[a] < trace.spans.source[b]; });
  for (std::size_t i = 0; i < plain.spans.size(); ++i) {
    const SpanId id = in_file_order[i];
    ASSERT_EQ(trace.name(id), plain.spans[i].name);
    ASSERT_EQ(std::to_string(trace.spans.start_ns[id]), nanoseconds_text(plain.spans[i].time));
    ASSERT_EQ(std::to_string(trace.spans.duration_ns[id]),
              nanoseconds_text(plain.spans[i].duration));
  }
}

TEST_P(ChromeCorpus, ArgumentsAreThoseInTheFile) {
  const auto input = Input::open(GetParam());
  const Trace trace = read_chrome(input);
  const std::string_view content = input->view();
  const SpanId step = std::max<SpanId>(1, static_cast<SpanId>(trace.spans.size() / 500));
  for (SpanId id = 0; id < trace.spans.size(); id += step) {
    const std::string_view event = content.substr(trace.spans.source[id]);
    std::size_t size = 0;  // to the bracket that closes it; no string of the corpus has one alone
    int depth = 0;
    do {
      depth += event[size] == '{' ? 1 : event[size] == '}' ? -1 : 0;
    } while (++size < event.size() && depth > 0);
    const auto whole = nlohmann::json::parse(event.substr(0, size), nullptr, false);
    if (whole.is_discarded()) continue;
    const std::string args = trace.args(id);
    if (!whole.contains("args")) {
      EXPECT_EQ(args, "");
      continue;
    }
    EXPECT_EQ(nlohmann::json::parse(args), whole["args"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kineto, ChromeCorpus,
                         ::testing::ValuesIn(corpus_files({"kineto", "expert"}, ".json")),
                         [](const auto& file) {
                           std::string name = file.param.substr(file.param.rfind('/') + 1);
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ChromeCorpus);

}  // namespace fathom::trace::chrome_corpus_test
