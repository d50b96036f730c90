#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fathom::base::json_writer_test {

TEST(JsonWriter, WritesNestedDocuments) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("a").begin_array().value(1).value(-2).begin_object().end_object();
  json.end_array().key("b").value(true).key("c").raw("[1]").key("d").begin_array().end_array();
  json.end_object();
  EXPECT_EQ(out, R"({"a":[1,-2,{}],"b":true,"c":[1],"d":[]})");
}

TEST(JsonWriter, UnknownIsNull) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().value(std::optional<double>()).value(std::nan("")).value(INFINITY);
  json.value(std::optional<int>(0)).end_array();
  EXPECT_EQ(out, "[null,null,null,0]");
}

TEST(JsonWriter, NumbersSurviveTheTrip) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().value(0.1).value(std::numeric_limits<std::int64_t>::min());
  json.value(std::numeric_limits<std::uint64_t>::max()).end_array();
  EXPECT_EQ(out, "[0.1,-9223372036854775808,18446744073709551615]");
}

TEST(JsonWriter, EscapesWhatJsonForbids) {
  std::string out;
  append_json_string(out, "a\"b\\c\n\x01µ");
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\n\\u0001µ\"");
}

TEST(JsonWriter, RepairsTextThatIsNotUtf8) {
  for (const char* broken : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    std::string out;
    append_json_string(out, broken);
    EXPECT_EQ(out.substr(0, 4), "\"\xEF\xBF\xBD");
  }
}

}  // namespace fathom::base::json_writer_test
