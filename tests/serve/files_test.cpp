#include "serve/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "cli/run_program.h"

namespace fathom::serve {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

constexpr const char* kTrace = R"({"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2}]})";

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    fs::create_directories(scratch.path("open/ranks"));
    fs::create_directories(scratch.path("secret"));
    scratch.write("open/a.json", kTrace);
    scratch.write("open/ranks/0.json", kTrace);
    scratch.write("open/notes.txt", "notes");
    scratch.write("open/.hidden.json", kTrace);
    scratch.write("secret/s.json", kTrace);
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const FileInfo& file : folder().list().files) names.push_back(file.name);
    return names;
  }

  Folder& folder() {
    if (!folder_) folder_ = std::make_unique<Folder>(scratch.path("open"));
    return *folder_;
  }

  cli::Scratch scratch;
  std::unique_ptr<Folder> folder_;
};

TEST_F(FilesTest, ListsTheFilesAndWhichOfThemAreTraces) {
  EXPECT_THAT(names(), UnorderedElementsAre("a.json", "ranks/0.json", "notes.txt"));
  for (const FileInfo& file : folder().list().files)
    EXPECT_EQ(file.is_openable, file.name != "notes.txt") << file.name;
}

TEST_F(FilesTest, AFileThatChangedIsLookedAtAgain) {
  folder().list();
  scratch.write("open/notes.txt", kTrace);
  EXPECT_TRUE(folder().look_at("notes.txt")->is_openable);
}

TEST_F(FilesTest, OpensWhatIsInTheFolder) {
  EXPECT_TRUE(folder().open("a.json").is_open());
  EXPECT_TRUE(folder().open("ranks/0.json").is_open());
}

TEST_F(FilesTest, NothingOutsideOfItByAnyName) {
  for (const char* name :
       {"../secret/s.json", "ranks/../../secret/s.json", "..", ".", "", "/", "./a.json", "ranks",
        "ranks/", "ranks//0.json", ".hidden.json", "/etc/passwd", "//etc/passwd", "a.json/x"}) {
    EXPECT_FALSE(folder().open(name).is_open()) << name;
  }
  EXPECT_FALSE(folder().open(scratch.path("secret/s.json")).is_open());
  EXPECT_FALSE(folder().open(std::string_view("a.json\0x", 8)).is_open());
}

TEST_F(FilesTest, NoSymbolicLinkIsFollowedOrListed) {
  fs::create_symlink(scratch.path("secret/s.json"), scratch.path("open/link.json"));
  fs::create_symlink("../secret/s.json", scratch.path("open/relative.json"));
  fs::create_directory_symlink(scratch.path("secret"), scratch.path("open/folder"));
  fs::create_directory_symlink("..", scratch.path("open/up"));
  for (const char* name : {"link.json", "relative.json", "folder/s.json", "up/secret/s.json"})
    EXPECT_FALSE(folder().open(name).is_open()) << name;
  EXPECT_THAT(names(), UnorderedElementsAre("a.json", "ranks/0.json", "notes.txt"));
}

TEST_F(FilesTest, APipeOrSocketIsNoFileAndHoldsNobodyUp) {
  ASSERT_EQ(mkfifo(scratch.path("open/pipe.json").c_str(), 0600), 0);
  EXPECT_FALSE(folder().open("pipe.json").is_open());
  EXPECT_THAT(names(), UnorderedElementsAre("a.json", "ranks/0.json", "notes.txt"));
}

TEST_F(FilesTest, TheFolderIsTheOneThatWasNamedWhateverItIsCalledLater) {
  folder();
  fs::rename(scratch.path("open"), scratch.path("moved"));
  fs::create_directory_symlink(scratch.path("secret"), scratch.path("open"));
  EXPECT_TRUE(folder().open("a.json").is_open());
  EXPECT_FALSE(folder().open("s.json").is_open());
}

TEST_F(FilesTest, AListHasAnEndAndSaysSo) {
  for (std::size_t i = 0; i < Folder::kMostListed + 5; ++i)
    scratch.write("open/" + std::to_string(i), "");
  const Listing listing = folder().list();
  EXPECT_EQ(listing.files.size(), Folder::kMostListed);
  EXPECT_FALSE(listing.is_complete);
}

TEST_F(FilesTest, AMissingFolderIsSaid) {
  EXPECT_THROW(Folder missing(scratch.path("nowhere")), base::Error);
  EXPECT_THROW(Folder file(scratch.path("open/a.json")), base::Error);
}

TEST_F(FilesTest, AnUploadHasItsNameWhenItIsComplete) {
  Upload upload(folder(), "new.json");
  EXPECT_TRUE(upload.take("{\"traceEvents\""));
  EXPECT_FALSE(fs::exists(scratch.path("open/new.json")));
  EXPECT_TRUE(upload.take(":[]}"));
  EXPECT_EQ(upload.finish(), "new.json");
  EXPECT_EQ(cli::content_of(scratch.path("open/new.json")), R"({"traceEvents":[]})");
}

TEST_F(FilesTest, AnUploadOverwritesNothing) {
  const std::string before = cli::content_of(scratch.path("open/a.json"));
  for (const char* expected : {"a-2.json", "a-3.json"}) {
    Upload upload(folder(), "a.json");
    upload.take("other");
    EXPECT_EQ(upload.finish(), expected);
  }
  EXPECT_EQ(cli::content_of(scratch.path("open/a.json")), before);
}

TEST_F(FilesTest, AnUploadDoesNotWriteThroughALink) {
  fs::create_symlink(scratch.path("secret/new"), scratch.path("open/new.json"));
  Upload upload(folder(), "new.json");
  upload.take("x");
  EXPECT_EQ(upload.finish(), "new-2.json");
  EXPECT_FALSE(fs::exists(scratch.path("secret/new")));
}

TEST_F(FilesTest, AnUploadThatBreaksOffLeavesNothing) {
  {
    Upload upload(folder(), "new.json");
    upload.take("half");
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(scratch.path("open"))) ++files;
  EXPECT_EQ(files, 4U) << "as before: two traces' folder and file, notes, the hidden one";
}

TEST_F(FilesTest, NamesOfUploadsAreFilesAlone) {
  EXPECT_TRUE(is_plain_file_name("trace-1.json.gz"));
  EXPECT_TRUE(is_plain_file_name("Läufe vom Montag.json"));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "/a", "../a", "a\nb", "a\x1b[2J"})
    EXPECT_FALSE(is_plain_file_name(name)) << name;
  EXPECT_FALSE(is_plain_file_name(std::string(300, 'a')));
}

}  // namespace
}  // namespace fathom::serve
