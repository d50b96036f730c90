// A program with scopes for `fathom profile` to record.
//
//   scopes N    N scopes
//   slow MS     one that lasts so long
//   exec N      N scopes, and N more after it has replaced itself
//   named NAME  a scope of that name; raise NAME: the same, and a kill from within
//   odd N       a scope with attributes that are no numbers
//   depth N     N scopes of profile() inside each other
//   throws N    two scopes, and N that end by an exception
//   nested N    a scope around a child that runs N
//   handed N    a scope that another thread ends, N scopes after it, and _exit
//   waiting N   the same, but its thread is idle until the program ends: by return, where N is 0
//   idle N      the same, but the thread that began it is there and idle when the program returns
//   around N    a scope that another thread ends while its thread is inside one in it; and return
#include <fathom/fathom.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

void work(int scopes) {
  for (int i = 0; i < scopes; ++i) {
    FATHOM_SCOPE("work");
  }
}

void nest(int depth) {
  std::vector<fathom::Scope> open;
  for (int i = 0; i < depth; ++i) open.push_back(fathom::profiler().profile("nested"));
  while (!open.empty()) open.pop_back();
}

void throw_often(int scopes) {
  work(2);
  for (int i = 0; i < scopes; ++i) {
    try {
      FATHOM_SCOPE("work");
      throw i;
    } catch (int) {
      continue;
    }
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

std::atomic<bool> going_on = true;

// Ends it elsewhere, where a scope says when that was.
void end_elsewhere(fathom::Scope& scope) {
  std::thread([&] {
    scope.end();
    FATHOM_SCOPE("then");
  }).join();
}

void hand_over(const std::string& how, int number) {
  FATHOM_SCOPE("around");
  fathom::Scope handed = fathom::profiler().profile("handed over");
  if (how == "idle") {
    end_elsewhere(handed);
    going_on = false;
    for (;;) pause();
  }
  if (how == "around") {
    FATHOM_SCOPE("inside");
    end_elsewhere(handed);
  } else {
    end_elsewhere(handed);
  }
  if (how == "handed") work(number);
  if (how == "handed" || number > 0) _exit(0);
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
  } else if (mode == "named" || mode == "raise") {
    { const fathom::Scope named = fathom::profiler().profile(argv[2], {.device = argv[2]}); }
    if (mode == "raise") raise(SIGTERM);
  } else if (mode == "odd") {
    const double infinity = std::numeric_limits<double>::infinity();
    const fathom::Scope odd = fathom::profiler().profile(
        "odd",
        {.attributes = {{"x", std::nan("")}, {"y", infinity}, {"z", -infinity}, {"count", 7}}});
  } else if (mode == "depth") {
    nest(number);
  } else if (mode == "throws") {
    throw_often(number);
  } else if (mode == "idle") {
    std::thread([&] { hand_over(mode, number); }).detach();
    while (going_on) std::this_thread::yield();
  } else if (mode == "handed" || mode == "waiting" || mode == "around") {
    hand_over(mode, number);
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
