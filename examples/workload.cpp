// A little image pipeline that shows what Fathom's profiler sees: nested scopes, several threads,
// attributes, and a function that fails now and then.
//
//   build/dev/bin/example_workload      writes run.pftrace and profile.json
#include <fathom/fathom.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Image = std::vector<float>;

Image load(int number) {
  auto scope = fathom::profiler().profile("load", {.attributes = {{"image", number}}});
  std::mt19937 random(static_cast<unsigned>(number));
  Image image(std::uniform_int_distribution<std::size_t>(20'000, 60'000)(random));
  for (float& pixel : image) pixel = static_cast<float>(random() % 256) / 255.0F;
  scope.attribute({"pixels", image.size()});
  return image;
}

void blur(Image& image) {
  FATHOM_SCOPE("blur");
  for (int pass = 0; pass < 4; ++pass) {
    FATHOM_SCOPE("blur pass");
    for (std::size_t i = 1; i + 1 < image.size(); ++i) {
      image[i] = (image[i - 1] + image[i] + image[i + 1]) / 3;
    }
  }
}

double sharpness(const Image& image) {
  FATHOM_SCOPE("sharpness");
  double sum = 0;
  for (std::size_t i = 1; i < image.size(); ++i) {
    sum += std::sqrt(std::abs(static_cast<double>(image[i] - image[i - 1])));
  }
  if (image.size() < 21'000) throw std::runtime_error("too small to tell");
  return sum / static_cast<double>(image.size());
}

void work(int first, int last) {
  auto judge = fathom::wrap("judge", sharpness);
  for (int number = first; number < last; ++number) {
    FATHOM_SCOPE("image");
    Image image = load(number);
    blur(image);
    try {
      judge(image);
    } catch (const std::runtime_error&) {
      FATHOM_SCOPE("skip");
    }
  }
}

}  // namespace

int main() {
  fathom::Profiler& profiler = fathom::profiler();
  if (!profiler.start_recording("run.pftrace")) return 1;
  {
    FATHOM_SCOPE("pipeline");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(work, 100 * i, 100 * (i + 1));
  }
  profiler.stop_recording();

  profiler.print_summary();
  std::puts("");
  profiler.print_bottlenecks();
  profiler.export_json("profile.json");
}
