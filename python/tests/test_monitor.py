"""The rows of fathom.monitor, on GPUs that do not exist."""
import asyncio
import os
import tempfile
import unittest

import fathom
from fathom.monitor import (EventBus, GPUDevice, GPUProfiler, GPUProfilerConfig, GPUProfilingSession, GPUSnapshot,
                            ProfilingLevel, ProfilingMode)


class Bus:
    def __init__(self):
        self.events = []

    async def publish(self, event):
        self.events.append(event.name)


class Container:
    def __init__(self, **things):
        self.things = things

    def get(self, wanted):
        return self.things[wanted if isinstance(wanted, str) else wanted.__name__]


class Monitor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = GPUProfilerConfig(demo=True, output_dir=folder.name, monitoring_interval_seconds=0.05,
                                        mode=ProfilingMode.DETAILED, level=ProfilingLevel.HIGH)

    def test_a_session_from_start_to_report(self):
        bus = Bus()

        async def main():
            profiler = GPUProfiler(Container(GPUProfilerConfig=self.config, event_bus=bus))
            heard = []
            profiler.subscribe(lambda event: heard.append(event.name))
            self.assertFalse((await profiler.health_check())["is_healthy"])
            await profiler.start()
            identity = await profiler.start_profiling_session("serving", "at noon", None)
            await profiler.track_inference(12.5)
            await profiler.track_inference(7.5, identity)
            snapshot = await profiler.take_snapshot(trigger="manual")
            status = await profiler.get_gpu_status()
            health = await profiler.health_check()
            await asyncio.sleep(0.2)
            self.assertEqual(await profiler.stop_profiling_session(), identity)
            sessions = await profiler.get_profiling_sessions()
            report = await profiler.get_session_report(identity)
            await profiler.stop()
            return heard, identity, snapshot, status, health, sessions, report

        heard, identity, snapshot, status, health, sessions, report = asyncio.run(main())
        self.assertIsInstance(snapshot, GPUSnapshot)
        self.assertEqual((snapshot.trigger, len(snapshot.devices)), ("manual", 2))
        self.assertIsInstance(status.devices[0], GPUDevice)
        self.assertEqual(status.active_session, identity)
        self.assertGreater(status.devices[0].memory_total_bytes, 0)
        self.assertTrue(health["is_healthy"], health)
        self.assertIsInstance(sessions[0], GPUProfilingSession)
        self.assertEqual((sessions[0].id, sessions[0].name, sessions[0].description), (identity, "serving", "at noon"))
        self.assertEqual(sessions[0].inference["count"], 2)
        self.assertIn("suggestions", report)
        self.assertIn("ProfilerStarted", heard)
        self.assertEqual(heard, bus.events)

    def test_tasks_run_while_it_watches(self):
        async def main():
            async with GPUProfiler(self.config) as profiler:
                profiler.publish("inference_completed", duration_ms=3)
                return (await profiler.get_gpu_status()).devices[0].name

        self.assertTrue(asyncio.run(main()))

    def test_a_listener_that_fails_is_told_of_and_later_events_come_all_the_same(self):
        async def main():
            problems, heard = [], []
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
            profiler = GPUProfiler(self.config)

            def fails(event):
                raise KeyError(event.name)

            profiler.subscribe(fails)
            profiler.subscribe(lambda event: heard.append(event.name))
            await profiler.start()
            while not heard:  # the task that tells events
                await asyncio.sleep(0.01)
            first = len(heard)
            await profiler.start_profiling_session("serving")
            while len(heard) == first:
                await asyncio.sleep(0.01)
            await profiler.stop()
            return problems, heard

        problems, heard = asyncio.run(asyncio.wait_for(main(), 20))
        self.assertEqual([str(each["exception"]) for each in problems], [repr(each) for each in heard])
        self.assertIn("a listener failed at ProfilerStarted", problems[0]["message"])

    def test_what_a_container_has(self):
        bus = Bus()

        class ByType:
            def get(self, wanted):
                return {GPUProfilerConfig: config, EventBus: bus}[wanted]

        class Broken:
            def get(self, wanted):
                raise RuntimeError("the container is closed")

        config = self.config
        profiler = GPUProfiler(ByType())
        self.assertIs(profiler.config, config)
        self.assertEqual(profiler._bus_methods(), [bus.publish])
        self.assertEqual(GPUProfiler({})._bus_methods(), [])
        with self.assertRaisesRegex(RuntimeError, "closed"):
            GPUProfiler(Broken())

    def test_without_a_container(self):
        async def main():
            profiler = GPUProfiler()
            await profiler.start()
            status = await profiler.get_gpu_status()
            await profiler.stop()
            return status

        self.assertIsInstance(asyncio.run(main()).devices, list)

    def test_settings(self):
        with self.assertRaisesRegex(fathom.Error, "mode"):
            GPUProfiler(GPUProfilerConfig(mode="fast"))
        with self.assertRaises(fathom.Error):
            GPUProfiler(GPUProfilerConfig(temperature_warning_celsius=95))
        root = os.environ["FATHOM_SOURCE_DIR"]
        self.assertEqual(GPUProfilerConfig.from_yaml(os.path.join(root, "docs", "fathom.yaml")).max_snapshots, 1000)

        async def main():
            await GPUProfiler().take_snapshot()

        with self.assertRaisesRegex(fathom.Error, "start"):
            asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
