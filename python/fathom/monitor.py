"""Watching GPUs from asyncio: what they do now, sessions, alerts.

>>> import asyncio
>>> from fathom.monitor import GPUProfiler, GPUProfilerConfig
>>> async def look():
...     profiler = GPUProfiler(GPUProfilerConfig(demo=True))
...     await profiler.start()
...     try:
...         return len((await profiler.get_gpu_status()).devices)
...     finally:
...         await profiler.stop()
>>> asyncio.run(look())
2
"""
import asyncio
import enum
import inspect
import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Callable, Optional, Protocol, Union

from . import _monitor
from .errors import InputError


class ProfilingMode(str, enum.Enum):
    """How much is asked of a device at each look."""

    BASIC = "basic"
    STANDARD = "standard"
    DETAILED = "detailed"
    COMPREHENSIVE = "comprehensive"


class ProfilingLevel(str, enum.Enum):
    """How often devices are looked at."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAXIMUM = "maximum"


@dataclass
class GPUProfilerConfig:
    """The section `gpu_profiler` of fathom.yaml; docs/monitoring.md explains each."""

    mode: Union[ProfilingMode, str] = ProfilingMode.STANDARD
    level: Union[ProfilingLevel, str] = ProfilingLevel.MEDIUM
    monitoring_interval_seconds: float = 1.0
    metrics_update_interval_seconds: float = 5.0
    device_discovery_interval_seconds: float = 30.0
    enable_cuda_profiling: bool = True
    enable_opencl_profiling: bool = True
    enable_thermal_monitoring: bool = True
    enable_power_monitoring: bool = True
    enable_memory_tracking: bool = True
    temperature_warning_celsius: float = 80
    temperature_critical_celsius: float = 90
    memory_warning_percent: float = 80
    memory_critical_percent: float = 95
    utilization_warning_percent: float = 90
    max_snapshots: int = 1000
    max_profiling_sessions: int = 100
    output_dir: str = "data/profiling/gpu"
    export_json_reports: bool = True
    demo: bool = False
    """Two GPUs that do not exist, to look around."""

    @classmethod
    def from_yaml(cls, path: str) -> "GPUProfilerConfig":
        """The settings of a fathom.yaml."""
        return cls(**{name: _value(name, text) for name, text in _monitor.read_config(str(path)).items()})

    def _settings(self) -> "dict[str, str]":
        return {name: _text(value) for name, value in asdict(self).items()}


def _text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(name: str, text: str) -> Any:
    default = next(each.default for each in fields(GPUProfilerConfig) if each.name == name)
    if isinstance(default, enum.Enum):
        return type(default)(text)
    if isinstance(default, bool):
        return text == "true"
    return type(default)(float(text)) if isinstance(default, (int, float)) else text


@dataclass(frozen=True)
class GPUDevice:
    """A GPU as it is now. What its driver does not tell is None."""

    index: int
    uuid: str
    name: str
    vendor: str
    type: str
    state: str
    backend: str
    memory_total_bytes: Optional[int] = None
    memory_used_bytes: Optional[int] = None
    memory_free_bytes: Optional[int] = None
    utilization_percent: Optional[float] = None
    memory_utilization_percent: Optional[float] = None
    temperature_celsius: Optional[float] = None
    power_watts: Optional[float] = None
    core_clock_hz: Optional[float] = None
    memory_clock_hz: Optional[float] = None
    fan_percent: Optional[float] = None
    throttle: "Optional[list[str]]" = None
    processes: "list[dict[str, Any]]" = field(default_factory=list)
    more: "dict[str, Any]" = field(default_factory=dict)
    """All else that is known of it, by the names of docs/devices.schema.json."""

    @classmethod
    def _of(cls, found: "dict[str, Any]") -> "GPUDevice":
        own = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in own},
                   more={name: value for name, value in found.items() if name not in own})


@dataclass(frozen=True)
class GPUSnapshot:
    """All devices at one moment; `time_ns` counts from 1970."""

    time_ns: int
    trigger: str
    devices: "list[GPUDevice]"

    @classmethod
    def _of(cls, found: "dict[str, Any]") -> "GPUSnapshot":
        return cls(found["time_ns"], found["trigger"], [GPUDevice._of(each) for each in found["devices"]])


@dataclass(frozen=True)
class GPUProfilingSession:
    """A session; one that runs has no `stopped_ns`."""

    id: str
    name: str
    description: str
    started_ns: int
    stopped_ns: Optional[int] = None
    was_interrupted: bool = False
    snapshots: int = 0
    alerts: int = 0
    inference: "dict[str, Any]" = field(default_factory=dict)
    config: "dict[str, Any]" = field(default_factory=dict)

    @classmethod
    def _of(cls, found: "dict[str, Any]") -> "GPUProfilingSession":
        own = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in own})


@dataclass(frozen=True)
class GPUStatus:
    """What there is and what it does; `alerts` are those that last and the last ones that do not."""

    devices: "list[GPUDevice]"
    alerts: "list[dict[str, Any]]"
    inference: "dict[str, Any]"
    active_session: Optional[str]


@dataclass(frozen=True)
class GPUEvent:
    """What listeners and the event bus of the container get."""

    name: str
    time_ns: int
    fields: "dict[str, str]"


class EventBus(Protocol):
    """What a container gives for this type gets each event; `publish` may be a coroutine function, or be called `emit`."""

    def publish(self, event: GPUEvent) -> Any: ...


class GPUProfiler:
    """Watches GPUs while an asyncio program does something else.

    `container` is a GPUProfilerConfig, or any object with `get(type)`: it is asked for a GPUProfilerConfig and for an
    EventBus (then for "event_bus"), whose `publish(event)` (or `emit`) then gets each event. What it does not have is None
    or a LookupError; other exceptions are the caller's. A listener that fails is told to the event loop's exception handler.
    """

    _EVENT_SECONDS = 0.05

    def __init__(self, container: Any = None) -> None:
        given = container if isinstance(container, GPUProfilerConfig) else _from(container, GPUProfilerConfig)
        self.config: GPUProfilerConfig = given if given is not None else GPUProfilerConfig()
        _monitor.check_config(self.config._settings())
        self._bus = None if isinstance(container, GPUProfilerConfig) else _bus_of(container)
        self._listeners: "list[Callable[[GPUEvent], Any]]" = []
        self._native: Any = None
        self._session: Optional[str] = None
        self._telling: "Optional[asyncio.Task[None]]" = None

    async def start(self) -> None:
        """Begins to look at the devices."""
        if self._native is not None:
            return
        self._native = await self._call(_monitor.Monitor, self.config._settings())
        await self._call(self._native.start)
        self._telling = asyncio.get_running_loop().create_task(self._tell_events())

    async def stop(self) -> None:
        """Ends the sessions that run, and stops."""
        if self._native is None:
            return
        native, self._native = self._native, None
        await self._call(native.stop)
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        await self._tell(native)
        self._session = None

    async def __aenter__(self) -> "GPUProfiler":
        await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.stop()

    async def start_profiling_session(self, name: Optional[str] = None, description: Optional[str] = None,
                                      config: Optional[GPUProfilerConfig] = None) -> str:
        """Starts a session and gives its id."""
        settings = config._settings() if config is not None else None
        self._session = str(await self._call(self._running().start_session, name or "session", description or "", settings))
        return self._session

    async def stop_profiling_session(self, session_id: Optional[str] = None) -> str:
        """Stops a session, the last one that was started unless told otherwise, and gives its id."""
        chosen = session_id or self._session
        if chosen is None:
            raise InputError("no session runs: start one with start_profiling_session()")
        await self._call(self._running().stop_session, chosen)
        if chosen == self._session:
            self._session = None
        return chosen

    async def get_session_report(self, session_id: str) -> "dict[str, Any]":
        """Snapshots, alerts, inference times and suggestions of a session."""
        return dict(json.loads(await self._call(self._running().session_report, session_id)))

    async def take_snapshot(self, trigger: str = "manual") -> GPUSnapshot:
        """Looks at all devices now."""
        return GPUSnapshot._of(json.loads(await self._call(self._running().take_snapshot, trigger)))

    async def track_inference(self, ms: float, session_id: Optional[str] = None) -> None:
        """Notes how long a request took, of a session or of the monitor alone."""
        self._running().track_inference(float(ms), session_id or self._session or "")

    async def get_gpu_status(self) -> GPUStatus:
        """What there is and what it does."""
        native = self._running()
        devices = json.loads(await self._call(native.devices))
        return GPUStatus([GPUDevice._of(each) for each in devices], json.loads(native.alerts()),
                         json.loads(native.inference()), self._session)

    async def get_profiling_sessions(self) -> "list[GPUProfilingSession]":
        """Those of earlier runs, too; the newest first."""
        return [GPUProfilingSession._of(each) for each in json.loads(await self._call(self._running().sessions))]

    async def health_check(self) -> "dict[str, Any]":
        """`is_healthy`, the first `problem`, and how the backends are."""
        if self._native is None:
            return {"is_healthy": False, "problem": "not started", "devices": 0, "backends": []}
        return dict(json.loads(await self._call(self._native.health)))

    def subscribe(self, listener: "Callable[[GPUEvent], Any]") -> None:
        """Calls `listener` with each event from now on; it may be a coroutine function."""
        self._listeners.append(listener)

    def publish(self, name: str, **values: Any) -> None:
        """Tells the monitor of an event: session_started, session_ended, inference_completed, system_shutdown_started."""
        self._running().publish(name, {key: str(value) for key, value in values.items()})

    def _running(self) -> Any:
        if self._native is None:
            raise InputError("the profiler is not running: await start() first")
        return self._native

    @staticmethod
    async def _call(function: "Callable[..., Any]", *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, function, *args)

    async def _tell_events(self) -> None:
        while self._native is not None:
            await self._tell(self._native)
            await asyncio.sleep(self._EVENT_SECONDS)

    async def _tell(self, native: Any) -> None:
        for found in native.take_events():
            event = GPUEvent(*found)
            for listener in (*self._listeners, *self._bus_methods()):
                try:
                    result = listener(event)
                    if inspect.isawaitable(result):
                        await result
                except Exception as error:  # the others, and later events, are told all the same
                    asyncio.get_running_loop().call_exception_handler(
                        {"message": f"fathom.monitor: a listener failed at {event.name}", "exception": error})

    def _bus_methods(self) -> "list[Callable[[GPUEvent], Any]]":
        for name in ("publish", "emit"):
            method = getattr(self._bus, name, None)
            if method is not None:
                return [method]
        return []


def _from(container: Any, wanted: type) -> Any:
    """What a container has under a type; None where it has none, which it may also say by a LookupError."""
    if container is None:
        return None
    try:
        return container.get(wanted)
    except LookupError:
        return None


def _bus_of(container: Any) -> Any:
    """Its event bus, by type; or by name, as older containers have it."""
    found = _from(container, EventBus)
    if found is None and container is not None:
        try:
            found = container.get("event_bus")
        except (LookupError, TypeError, AttributeError):  # it takes types alone
            return None
    return found


__all__ = ["EventBus", "GPUDevice", "GPUEvent", "GPUProfiler", "GPUProfilerConfig", "GPUProfilingSession", "GPUSnapshot",
           "GPUStatus", "ProfilingLevel", "ProfilingMode"]
