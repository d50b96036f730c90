// A program with scopes for `fathom profile` to record.
//
//   scopes N    N scopes
//   slow MS     one that lasts so long
//   exec N      N scopes, and N more after it has replaced itself
//   nested N    a scope around a child that runs N
#include <fathom/fathom.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void work(int scopes) {
  for (int i = 0; i < scopes; ++i) {
    FATHOM_SCOPE("work");
  }
}

void run_child(char* self, char* scopes) {
  FATHOM_SCOPE("around the child");
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "scopes", scopes, nullptr);
    _exit(1);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[1];
  const int number = std::atoi(argv[2]);
  if (mode == "nested") {
    run_child(argv[0], argv[2]);
  } else if (mode == "slow") {
    FATHOM_SCOPE("work");
    std::this_thread::sleep_for(std::chrono::milliseconds(number));
  } else {
    work(number);
  }
  if (mode == "exec") {
    // Longer than the second that a sudden end may cost.
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    execl(argv[0], argv[0], "scopes", argv[2], nullptr);
  }
  return 0;
}
