"""Scopes: what is measured, whose they are, and that nothing of them leaks or gets in the way."""
import asyncio
import contextlib
import gc
import inspect
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest

import fathom


def calls():
    return {name: each.call_count for name, each in fathom.get_profiler().get_summary().items()}


def entries():
    return {each.operation: each for each in fathom.get_profiler().entries}


def parent_of(name):
    every = fathom.get_profiler().entries
    place = next(each for each in every if each.operation == name).parent
    return None if place is None else every[place].operation


@fathom.profile_function
def in_another_process(x):
    return x + 1, fathom.get_profiler().get_summary()["in_another_process"].call_count if "in_another_process" in calls() else 0


class Scopes(unittest.TestCase):
    def setUp(self):
        fathom.get_profiler(enabled=True).reset()

    def test_counts_and_nests(self):
        for _ in range(3):
            with fathom.scope("outer"):
                with fathom.scope("inner"):
                    pass
        self.assertEqual(calls(), {"outer": 3, "inner": 3})
        self.assertEqual(parent_of("inner"), "outer")
        self.assertIsNone(parent_of("outer"))

    def test_one_object_many_times_and_inside_itself(self):
        scope = fathom.scope("again")
        for _ in range(5):
            with scope:
                with scope:
                    with scope:
                        pass
        self.assertEqual(calls(), {"again": 15})
        self.assertEqual(scope.name, "again")

    def test_attributes_are_kept_with_their_types(self):
        with fathom.scope("kept", size=7, flag=True, rate=0.5, text="é", huge=2**80, big=2**63, none=None):
            pass
        entry = entries()["kept"]
        self.assertEqual(entry.attributes, {"size": 7, "flag": True, "rate": 0.5, "text": "é", "huge": str(2**80), "big": 2**63})
        with fathom.scope("gpu", device="gpu", backend="opencl"):
            pass
        self.assertEqual((entries()["gpu"].device, entries()["gpu"].backend), ("gpu", "opencl"))

    def test_names_of_every_kind(self):
        for name in ("", "a\0b", "日本語", "\ud800 half", "x" * 5000):
            with fathom.scope(name):
                pass
        self.assertEqual(sum(calls().values()), 5)
        for wrong in (b"bytes", 3, None):
            with self.assertRaisesRegex(TypeError, "name of a scope must be a str"):
                fathom.scope(wrong)
        with self.assertRaises(TypeError):
            fathom.scope()

    def test_an_exception_keeps_its_traceback_and_marks_the_scope(self):
        def fails():
            with fathom.scope("failing"):
                raise KeyError("here")

        try:
            fails()
        except KeyError as error:
            lines = "".join(traceback.format_tb(error.__traceback__))
        self.assertIn('raise KeyError("here")', lines)
        self.assertTrue(entries()["failing"].failed)
        self.assertEqual(fathom.get_profiler().get_summary()["failing"].error_count, 1)

    def test_works_with_exit_stacks_and_by_hand(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(fathom.scope("stacked"))
            self.assertIsInstance(stack.enter_context(fathom.scope("second")), fathom.scope)
        scope = fathom.scope("by hand")
        scope.__enter__()
        scope.__exit__(None, None, None)
        scope.__exit__(None, None, None)  # once too often does nothing
        self.assertEqual(calls(), {"stacked": 1, "second": 1, "by hand": 1})
        with self.assertRaises(TypeError):
            scope(1)

    def test_push_and_pop(self):
        fathom.push("a")
        fathom.push("b")
        fathom.pop()
        fathom.pop()
        fathom.pop()  # none is open
        self.assertEqual(calls(), {"a": 1, "b": 1})
        self.assertEqual(parent_of("b"), "a")
        for _ in range(100):
            fathom.push("deep")
        for _ in range(100):
            fathom.pop()
        self.assertEqual(calls()["deep"], 100)

    def test_off_measures_nothing(self):
        profiler = fathom.get_profiler(enabled=False)
        with fathom.scope("off"):
            fathom.push("off")
            profiler.enable()
            fathom.pop()
        with fathom.scope("on"):
            profiler.disable()
        profiler.enable()
        self.assertEqual(calls(), {"on": 1})

    def test_a_scope_that_is_left_open_ends_with_its_object(self):
        def numbers():
            with fathom.scope("generator"):
                yield 1
                yield 2

        for number in numbers():
            break
        gc.collect()
        scope = fathom.scope("dropped")
        scope.__enter__()
        del scope
        self.assertEqual(calls(), {"generator": 1, "dropped": 1})
        self.assertFalse(entries()["generator"].failed)

    def test_generators_that_cross(self):
        def steps(name):
            with fathom.scope(name):
                yield
                yield

        first, second = steps("first"), steps("second")
        for generator in (first, second, first, second):
            next(generator)
        first.close()
        second.close()
        self.assertEqual(calls(), {"first": 1, "second": 1})

    def test_eight_threads(self):
        def work():
            for _ in range(2000):
                with fathom.scope("a"):
                    fathom.push("b")
                    fathom.pop()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(calls(), {"a": 16000, "b": 16000})

    def test_begun_on_one_thread_and_ended_on_another(self):
        ready, ended = threading.Event(), threading.Event()
        scope = fathom.scope("passed on")

        def begins():
            scope.__enter__()
            ready.set()
            ended.wait()
            with fathom.scope("after"):
                pass

        thread = threading.Thread(target=begins)
        thread.start()
        ready.wait()
        scope.__exit__(None, None, None)
        ended.set()
        thread.join()
        self.assertEqual(calls(), {"passed on": 1, "after": 1})

    def test_a_thread_that_ends_inside_of_a_scope(self):
        scope = fathom.scope("orphan")
        thread = threading.Thread(target=scope.__enter__)
        thread.start()
        thread.join()
        scope.__exit__(None, None, None)
        with fathom.scope("still fine"):
            pass
        self.assertEqual(calls()["still fine"], 1)

    def test_a_child_process_starts_empty(self):
        with fathom.scope("parent"):
            child = os.fork()
            if child == 0:
                with fathom.scope("child"):
                    pass
                os._exit(0 if calls() == {"child": 1} else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(calls(), {"parent": 1})

    def test_a_fork_while_other_threads_are_in_scopes(self):
        stop = threading.Event()

        def work():
            with fathom.scope("long"):
                while not stop.is_set():
                    with fathom.scope("short"):
                        pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                gc.collect()
                with fathom.scope("child"):
                    pass
                os._exit(0 if calls() == {"child": 1} else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        stop.set()
        for thread in threads:
            thread.join()

    def test_a_fork_server_calls_decorated_functions(self):
        with multiprocessing.get_context("forkserver").Pool(2) as pool:
            self.assertEqual([each[0] for each in pool.map(in_another_process, range(4))], [1, 2, 3, 4])

    def test_sub_interpreters_are_refused_with_one_line(self):
        code = ("import _xxsubinterpreters as s; i = s.create()\n"
                "try: s.run_string(i, 'import fathom')\n"
                "except Exception as e: print(str(e).splitlines()[-1])")
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("fathom: works in the main interpreter only", ran.stdout + ran.stderr)

    def test_a_million_scopes_leave_nothing_behind(self):
        scope = fathom.scope

        @fathom.profile_function("decorated")
        def function():
            pass

        attributes = {"size": 1, "flag": True, "text": "some text"}
        profiler = fathom.get_profiler()

        def all_kinds(n):
            for _ in range(n):
                with scope("leak"):
                    pass
                with scope("detailed", **attributes):
                    pass
                with profiler.profile("profiled"):
                    pass
                fathom.push("pushed")
                fathom.pop()
                function()
                repr(again)

        async def task():
            with scope("task"):
                await asyncio.sleep(0)

        async def tasks(n):
            for _ in range(n):
                await asyncio.gather(task(), task(), task())

        def run(n):
            all_kinds(n)
            asyncio.run(tasks(n // 200))

        again = scope("leak")
        run(60_000)  # until what is kept of entries is full
        gc.collect()
        blocks, name_references = sys.getallocatedblocks(), sys.getrefcount("leak")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(1_000_000):
            with scope("leak"):
                pass
        run(100_000)
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - blocks, 200)
        self.assertEqual(sys.getrefcount("leak"), name_references)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 2000)  # kilobytes

    def test_names_without_end_do_not_fill_the_memory(self):
        code = """if 1:
            import fathom
            for i in range(70_000):
                with fathom.scope(f"name {i}"):
                    pass
            summary = fathom.get_profiler().get_summary()
            print(len(summary), sum(each.call_count for each in summary.values()), "(other operations)" in summary)"""
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.split(), ["65001", "70000", "True"])


class Functions(unittest.TestCase):
    def setUp(self):
        fathom.get_profiler(enabled=True).reset()

    def test_keeps_signature_name_and_results(self):
        @fathom.profile_function
        def add(a: int, b: int = 2, *, c: int = 0) -> int:
            """Adds."""
            return a + b + c

        self.assertEqual((add(1), add(1, c=5), add(*[4], **{"b": 5})), (3, 8, 9))
        self.assertEqual(str(inspect.signature(add)), "(a: int, b: int = 2, *, c: int = 0) -> int")
        self.assertEqual((add.__name__, add.__doc__), ("add", "Adds."))
        self.assertEqual(list(calls().values()), [3])
        with self.assertRaises(TypeError):
            add()
        self.assertEqual(list(fathom.get_profiler().get_summary().values())[0].error_count, 1)

    def test_methods_of_every_kind(self):
        class Thing:
            @fathom.profile_function
            def method(self, x):
                return (self, x)

            @fathom.profile_function(operation="class")
            @classmethod
            def of_class(cls, x):
                return (cls, x)

            @staticmethod
            @fathom.profile_function("static")
            def static(x):
                return x

        thing = Thing()
        self.assertEqual((thing.method(1), Thing.method(thing, 2)), ((thing, 1), (thing, 2)))
        bound = thing.method
        self.assertEqual(bound(3), (thing, 3))
        self.assertEqual((thing.of_class(1), Thing.static(2)), ((Thing, 1), 2))
        self.assertEqual(sorted(calls().values()), [1, 1, 3])
        self.assertIn("class", calls())

    def test_generators_give_and_take(self):
        @fathom.profile_function("gen")
        def echo():
            got = yield 1
            try:
                yield got
            except KeyError:
                yield "caught"
            return "end"

        generator = echo()
        self.assertEqual((next(generator), generator.send(5), generator.throw(KeyError())), (1, 5, "caught"))
        with self.assertRaises(StopIteration) as ended:
            next(generator)
        self.assertEqual(ended.exception.value, "end")
        self.assertTrue(inspect.isgeneratorfunction(echo))
        self.assertEqual(calls(), {"gen": 1})

    def test_coroutines_and_async_generators(self):
        @fathom.profile_function("co")
        async def later(x):
            await asyncio.sleep(0)
            return x

        @fathom.profile_function("agen")
        async def several():
            try:
                got = yield 1
                yield got
            except KeyError:
                yield "caught"

        async def main():
            found = [await later(3)]
            generator = several()
            found += [await generator.__anext__(), await generator.asend(7), await generator.athrow(KeyError())]
            found += [each async for each in generator]
            async for each in several():
                found.append(each)
            return found

        self.assertEqual(asyncio.run(main()), [3, 1, 7, "caught", 1, None])
        self.assertTrue(inspect.iscoroutinefunction(later))
        self.assertEqual(calls(), {"co": 1, "agen": 2})

    def test_is_pickled_by_name(self):
        self.assertIs(pickle.loads(pickle.dumps(in_another_process)), in_another_process)


class Tasks(unittest.TestCase):
    def setUp(self):
        fathom.get_profiler(enabled=True).reset()

    def test_a_scope_belongs_to_its_task(self):
        async def work(name):
            with fathom.scope(f"outer {name}"):
                await asyncio.sleep(0)
                with fathom.scope(f"inner {name}"):
                    await asyncio.sleep(0)
                fathom.push(f"pushed {name}")
                await asyncio.sleep(0)
                fathom.pop()

        async def main():
            await asyncio.gather(*(work(name) for name in "abcdefgh"))

        with fathom.scope("all"):
            asyncio.run(main())
        self.assertEqual(set(calls().values()), {1})
        self.assertEqual(len(calls()), 25)
        for name in "abcdefgh":
            self.assertEqual(parent_of(f"inner {name}"), f"outer {name}")
            self.assertEqual(parent_of(f"pushed {name}"), f"outer {name}")

    def test_tasks_one_after_another_are_inside_of_the_scope_around_them(self):
        async def work():
            with fathom.scope("task"):
                await asyncio.sleep(0)

        with fathom.scope("around"):
            asyncio.run(work())
        self.assertEqual(parent_of("task"), "around")

    def test_a_cancelled_task_marks_its_scope(self):
        async def main():
            async def waits():
                with fathom.scope("cancelled"):
                    await asyncio.sleep(60)

            task = asyncio.ensure_future(waits())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(main())
        self.assertTrue(entries()["cancelled"].failed)

    def test_many_tasks_at_once(self):
        async def work():
            with fathom.scope("many"):
                await asyncio.sleep(0.001)

        async def main():
            await asyncio.gather(*(work() for _ in range(1000)))

        asyncio.run(main())
        asyncio.run(main())
        self.assertEqual(calls(), {"many": 2000})

    def test_each_task_has_a_track_in_a_recording(self):
        async def work(name):
            with fathom.scope(name):
                await asyncio.sleep(0.001)

        async def main():
            await asyncio.gather(work("one"), work("two"))

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.pftrace")
            self.assertTrue(fathom.get_profiler().start_recording(path))
            asyncio.run(main())
            fathom.get_profiler().stop_recording()
            trace = fathom.read(path)
        kinds = dict(zip(trace.spans.name, trace.spans.track))
        self.assertNotEqual(kinds["one"], kinds["two"])
        self.assertEqual(len(trace.spans), 2)


if __name__ == "__main__":
    unittest.main()
