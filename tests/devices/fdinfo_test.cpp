#include "devices/fdinfo.h"

#include <gtest/gtest.h>

#include "devices/drm_processes.h"
#include "devices/kernel_tree.h"

namespace fathom::devices::fdinfo_test {

using std::chrono::seconds;

const DrmProcessSweep::Time kBegin{std::chrono::hours(1)};
const std::vector<DrmCard> kCard = {{"0000:03:00.0", {"card0", "renderD128"}}};

std::string client(int id, const std::string& lines) {
  return "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
         "drm-client-id:\t" +
         std::to_string(id) + "\n" + lines;
}

TEST(Fdinfo, OfAnotherFileIsNone) {
  EXPECT_FALSE(parse_fdinfo(""));
  EXPECT_FALSE(parse_fdinfo("pos:\t0\nflags:\t02\nmnt_id:\t9\n"));
}

TEST(Fdinfo, OfAmdgpu) {
  const auto read = parse_fdinfo(client(12,
                                        "drm-memory-vram:\t5120 KiB\ndrm-memory-gtt: \t2 MiB\n"
                                        "drm-memory-cpu: \t9 MiB\ndrm-engine-gfx:\t123456 ns\n"
                                        "drm-engine-enc:\t99 ns\n"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pci_address, "0000:03:00.0");
  EXPECT_EQ(read->id, 12u);
  EXPECT_EQ(read->device_bytes, 5 << 20);
  EXPECT_EQ(read->host_bytes, 2 << 20);
  ASSERT_EQ(read->engines.size(), 1u);  // encoding is not computing
  EXPECT_EQ(read->engines.at("gfx").busy_ns, 123456);
}

TEST(Fdinfo, OfAnOldAmdgpu) {
  const auto read = parse_fdinfo("pdev:\t0000:03:00.0\nvram mem:\t300 kB\ngfx0:\t12.3%\n");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->id);
  EXPECT_EQ(read->device_bytes, 300 << 10);
}

TEST(Fdinfo, OfXeAndI915) {
  const auto xe = parse_fdinfo(
      "drm-driver: xe\ndrm-client-id: 7\ndrm-total-vram0: 9 MiB\ndrm-resident-vram0: 8192\n"
      "drm-total-system: 1 KiB\ndrm-cycles-ccs: 50\ndrm-total-cycles-ccs: 200\n"
      "drm-engine-capacity-ccs: 4\ndrm-cycles-bcs: 5\n");
  ASSERT_TRUE(xe);
  EXPECT_EQ(xe->device_bytes, 8192);  // what is there, not what was asked for
  EXPECT_EQ(xe->host_bytes, 1024);
  EXPECT_EQ(xe->engines.at("ccs").busy_cycles, 50);
  EXPECT_EQ(xe->engines.at("ccs").total_cycles, 200);
  EXPECT_EQ(xe->engines.at("ccs").capacity, 4);
  const auto i915 = parse_fdinfo("drm-driver: i915\ndrm-resident-system0: 4 KiB\n");
  EXPECT_FALSE(i915->device_bytes);
  EXPECT_EQ(i915->host_bytes, 4096);
}

TEST(Fdinfo, DamagedLinesAreSkipped) {
  const auto read =
      parse_fdinfo(client(1,
                          "drm-memory-vram:\t-5 KiB\ndrm-memory-gtt:\t99999999999999999999 KiB\n"
                          "drm-engine-gfx:\nnonsense\ndrm-resident-vram0: 5 parsecs\n:\ndrm-:\n"
                          "drm-memory-vram1: 9223372036854775807 GiB"));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->device_bytes);
  EXPECT_FALSE(read->host_bytes);
  EXPECT_TRUE(read->engines.empty());
}

TEST(DrmProcesses, OneClientCountsOnceHoweverManyHaveIt) {
  const KernelTree tree;
  const std::string same = client(5, "drm-memory-vram: 4 KiB\n");
  tree.program(50, "/usr/bin/train --fast",
               {{3, {"dri/renderD128", same}},
                {4, {"dri/renderD128", same}},
                {5, {"dri/card0", client(6, "drm-memory-vram: 8 KiB\n")}},
                {6, {"null", "pos: 0\n"}}});
  tree.program(51, "child", {{3, {"dri/renderD128", same}}});
  tree.program(52, "other card", {{3, {"dri/renderD129", client(1, "drm-memory-vram: 1 KiB\n")}}});
  DrmProcessSweep sweep;
  const DrmProcesses found = sweep.look(tree.roots(), kCard, kBegin);
  ASSERT_EQ(found.of_card.size(), 1u);
  const std::vector<GpuProcess>& processes = found.of_card.at("0000:03:00.0");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].pid, 50);
  EXPECT_EQ(processes[0].name, "train --fast");  // one word to the kernel
  EXPECT_EQ(processes[0].start_ticks, 4242u);
  EXPECT_EQ(processes[0].memory_bytes, 12 << 10);
  EXPECT_FALSE(processes[0].utilization_percent);  // takes two looks
  EXPECT_FALSE(found.are_partial);
}

TEST(DrmProcesses, UtilizationIsThatOfTheBusiestEngine) {
  const KernelTree tree;
  const auto at = [&](int gfx_ms, int compute_ms) {
    tree.program(50, "app",
                 {{3,
                   {"dri/renderD128",
                    client(5, "drm-engine-gfx: " + std::to_string(gfx_ms) +
                                  "000000 ns\ndrm-engine-compute: " + std::to_string(compute_ms) +
                                  "000000 ns\ndrm-engine-capacity-compute: 2\n")}}});
  };
  DrmProcessSweep sweep;
  const auto percent = [&](int second) {
    return sweep.look(tree.roots(), kCard, kBegin + seconds(second))
        .of_card.at("0000:03:00.0")
        .at(0)
        .utilization_percent;
  };
  at(100, 100);
  EXPECT_FALSE(percent(0));
  at(350, 900);
  EXPECT_EQ(percent(1), 40);  // 800 ms of two engines' 2 s
  at(850, 900);
  EXPECT_EQ(percent(2), 50);
  at(800, 900);  // a counter may step back for a moment
  EXPECT_EQ(percent(3), 0);
  at(950, 900);
  EXPECT_EQ(percent(4), 10);
  at(9950, 900);
  EXPECT_EQ(percent(5), 100);
}

TEST(DrmProcesses, UtilizationByCyclesOfXe) {
  const KernelTree tree;
  DrmProcessSweep sweep;
  const auto percent = [&](int second, int cycles, int all) {
    tree.program(50, "app",
                 {{3,
                   {"dri/renderD128",
                    client(5, "drm-cycles-ccs: " + std::to_string(cycles) +
                                  "\ndrm-total-cycles-ccs: " + std::to_string(all) + "\n")}}});
    return sweep.look(tree.roots(), kCard, kBegin + seconds(second))
        .of_card.at("0000:03:00.0")
        .at(0)
        .utilization_percent;
  };
  EXPECT_FALSE(percent(0, 100, 1000));
  EXPECT_EQ(percent(1, 350, 2000), 25);
}

TEST(DrmProcesses, AProgramThatOpensTheCardLaterIsFoundSoon) {
  const KernelTree tree;
  tree.program(50, "app", {});
  DrmProcessSweep sweep;
  EXPECT_TRUE(sweep.look(tree.roots(), kCard, kBegin).of_card.empty());
  tree.program(50, "app", {{3, {"dri/renderD128", client(5, "")}}});
  int looks = 0;
  while (sweep.look(tree.roots(), kCard, kBegin + seconds(++looks)).of_card.empty() && looks < 99) {
  }
  EXPECT_LE(looks, 5);
  // A new program of the same pid is another one.
  tree.write("proc/50/stat", "50 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 5555 0");
  tree.write("proc/50/cmdline", std::string("other\0", 6));
  const DrmProcesses found = sweep.look(tree.roots(), kCard, kBegin + seconds(100));
  EXPECT_EQ(found.of_card.at("0000:03:00.0").at(0).name, "other");
  // And one that ended is gone.
  tree.remove("proc/50");
  EXPECT_TRUE(sweep.look(tree.roots(), kCard, kBegin + seconds(101)).of_card.empty());
}

TEST(DrmProcesses, SaysWhereItMayNotLook) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may look everywhere";
  const KernelTree tree;
  tree.program(50, "of root", {});
  std::filesystem::permissions(tree.path("proc/50/fd"), std::filesystem::perms::none);
  DrmProcessSweep sweep;
  for (int i = 0; i < 7; ++i) {
    EXPECT_TRUE(sweep.look(tree.roots(), kCard, kBegin + seconds(i)).are_partial) << i;
  }
  std::filesystem::permissions(tree.path("proc/50/fd"), std::filesystem::perms::owner_all);
}

}  // namespace fathom::devices::fdinfo_test
