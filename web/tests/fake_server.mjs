// A server that speaks docs/openapi.yaml and does what a test tells it: a world of GPUs, alerts, sessions and files that the
// test changes, and samples that come when it says so.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

const kGb = 2 ** 30;
const kBegin = Date.UTC(2027, 0, 15, 10, 0, 0); // of the first sample

// A GPU in good health; `changes` are fields of its own.
export const gpu = (index, changes = {}) => ({
  index,
  uuid: `GPU-${index}`,
  pci_address: `0000:0${index}:00.0`,
  name: `Test GPU ${index}`,
  vendor: "NVIDIA",
  type: "gpu",
  driver: "550.54",
  backend: "nvml",
  state: "ok",
  memory_total_bytes: 80 * kGb,
  memory_used_bytes: 20 * kGb,
  memory_free_bytes: 60 * kGb,
  utilization_percent: 50,
  temperature_celsius: 60,
  slowdown_celsius: 92,
  shutdown_celsius: 97,
  power_watts: 200,
  power_limit_watts: 400,
  core_clock_hz: 1.41e9,
  max_core_clock_hz: 1.41e9,
  memory_clock_hz: 1.593e9,
  throttle: [],
  ecc_corrected: 0,
  ecc_uncorrected: 0,
  fan_percent: 40,
  age_seconds: 0.1,
  processes: [{ pid: 1000 + index, name: `train${index}`, command: `python train.py --rank ${index}`, memory_bytes: 18 * kGb, utilization_percent: 48 }],
  ...changes,
});

export const alert = (id, changes = {}) => ({
  id,
  kind: "thermal",
  severity: "warning",
  uuid: "GPU-0",
  device: "Test GPU 0",
  raised_ns: kBegin * 1e6,
  value: 84,
  limit: 80,
  message: "84 °C, at or above the warning limit of 80 °C",
  cause: "The fan runs at 40 %. Improve the air flow, or lower its power limit",
  ...changes,
});

export const session = (id, changes = {}) => ({
  id,
  name: `run ${id}`,
  description: "",
  started_ns: kBegin * 1e6,
  was_interrupted: false,
  snapshots: 120,
  alerts: 0,
  inference: { count: 0, sum_ms: 0 },
  ...changes,
});

// Starts it. Its `world` may be changed at any time; `sample()` tells those who listen.
export async function fakeServer(changes = {}) {
  const template = await readFile(process.env.FATHOM_PAGE, "utf8");
  const mark = `<script type="application/x-fathom" data-name="server">${gzipSync("{}").toString("base64")}</script>`;
  const page = template.replace("<!--data-->", mark);
  const world = {
    token: "right",
    role: "admin", // of the token
    time: kBegin,
    interval: 1,
    demo: false,
    devices: [gpu(0), gpu(1)],
    alerts: [],
    backends: [{ name: "nvml", is_up: true, problem: "", look_seconds: 0.002 }],
    history: { times_ms: [], devices: {} },
    sessions: [],
    reports: {},
    files: [],
    limit: 1000, // bytes of an upload; null where no folder was named
    isComplete: true,
    ...changes,
  };
  const streams = new Set();
  const requests = []; // "POST /api/login", as they came
  const head = { schema: "fathom.test", fathom: "0.1.0" };
  const status = () => ({
    ...head, time_ns: world.time * 1e6, demo: world.demo, interval_seconds: world.interval,
    devices: world.devices, alerts: world.alerts, backends: world.backends,
  });
  const tell = (event, data) => {
    for (const stream of streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const files = () => ({ ...head, files: world.files, is_complete: world.isComplete, ...(world.limit !== null && { upload_limit_bytes: world.limit }) });
  const report = (id) => ({
    ...head, session: world.sessions.find((one) => one.id === id), alerts: [], metrics: {}, suggestions: [],
    history: { times_ms: [], devices: {} }, ...world.reports[id],
  });

  const posted = {
    "/api/login": (body, answer, port) => {
      if (JSON.parse(body).token !== world.token) return answer(401, { error: "This token is not known" });
      answer(200, { role: world.role }, { "Set-Cookie": `fathom_${port}=yes; HttpOnly; SameSite=Strict; Path=/` });
    },
    "/api/logout": (_, answer, port) => answer(200, { role: null }, { "Set-Cookie": `fathom_${port}=; Max-Age=0; Path=/` }),
    "/api/sessions": (body, answer) => {
      const { name, description = "", ...settings } = JSON.parse(body);
      if (world.sessions.some((one) => one.name === name && one.stopped_ns === undefined)) return answer(409, { error: `A session '${name}' runs already` });
      const started = session(String(world.sessions.length + 1), { name, description, started_ns: world.time * 1e6, snapshots: 0 });
      world.sessions.unshift(started);
      world.lastSettings = settings;
      answer(201, started);
      tell("session", started);
    },
    "/api/files": (body, answer, _, query) => {
      if (body.length > world.limit) return answer(413, { error: `The body is larger than ${world.limit} bytes` });
      const entry = { name: query.get("name"), bytes: body.length, modified_ns: world.time * 1e6, is_openable: query.get("name").endsWith(".json") };
      world.files.unshift(entry);
      answer(201, entry);
    },
  };
  const got = {
    "/api/gpu/status": status,
    "/api/gpu/history": () => ({ ...head, ...world.history }),
    "/api/sessions": () => ({ ...head, sessions: world.sessions }),
    "/api/files": files,
  };

  const serve = (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://fake");
    const { port } = server.address();
    requests.push(`${request.method} ${request.url}`);
    const answer = (code, data, headers = {}) => {
      response.writeHead(code, { "Content-Type": "application/json", ...headers });
      response.end(JSON.stringify(data));
    };
    const html = (code, text) => {
      response.writeHead(code, { "Content-Type": "text/html" });
      response.end(text);
    };
    const role = request.headers.cookie?.includes(`fathom_${port}=yes`) ? world.role : null;
    if (request.method === "GET" && pathname === "/") return html(200, page);
    if (pathname === "/api/me") return answer(200, { role });
    if (pathname.startsWith("/trace/")) {
      return role ? html(200, `<!doctype html><title>report</title><link rel="icon" href="data:,"><p>report of ${decodeURIComponent(pathname.slice(7))}`) : html(401, page);
    }
    if (!role && !["/api/login", "/api/logout"].includes(pathname)) return answer(401, { error: "Log in first" });
    if (request.method === "POST") {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks);
        const stopped = pathname.match(/^\/api\/sessions\/([^/]+)\/stop$/);
        if ((stopped || pathname === "/api/logout") && body.length > 0) return answer(413, { error: "This takes no body" });
        if (stopped) {
          const one = world.sessions.find(({ id }) => id === stopped[1]);
          one.stopped_ns = (world.time + 90_000) * 1e6;
          answer(200, report(one.id));
          tell("session", one);
        } else {
          posted[pathname](body, answer, port, searchParams);
        }
      });
      return;
    }
    if (pathname === "/api/events") {
      response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
      streams.add(response);
      response.on("close", () => streams.delete(response));
      response.write(`retry: 1000\n\nevent: snapshot\ndata: ${JSON.stringify(status())}\n\n`);
      return;
    }
    const id = pathname.match(/^\/api\/sessions\/([^/]+)$/)?.[1];
    if (id) return world.sessions.some((one) => one.id === id) ? answer(200, report(id)) : answer(404, { error: `There is no session '${id}'` });
    const make = got[pathname];
    return make ? answer(200, make()) : answer(404, { error: "There is nothing here." });
  };

  const server = createServer(serve).unref(); // the tests end when they end
  const listen = (port) => new Promise((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address();
  const stop = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  return {
    world,
    requests,
    url: `http://127.0.0.1:${port}/`,
    cookies: [{ name: `fathom_${port}`, value: "yes", domain: "127.0.0.1", path: "/" }],
    listeners: () => streams.size,
    tell,
    // The world goes on by one interval, changed so.
    sample(next = {}) {
      Object.assign(world, { time: world.time + 1000 * world.interval }, next);
      tell("snapshot", status());
    },
    gone: stop,
    back: () => listen(port),
  };
}

// Samples of an hour, for a server that has been there for a while.
export function pastOf(devices, count, stepMs) {
  const times_ms = Array.from({ length: count }, (_, at) => kBegin - (count - at) * stepMs);
  const column = (middle, swing, period, at) => times_ms.map((_, place) => middle + swing * Math.sin(place / period + at));
  return {
    times_ms,
    devices: Object.fromEntries(devices.map(({ uuid, name }, at) => [uuid, {
      name,
      utilization_percent: column(60, 38, 9, at),
      memory_used_bytes: column(40 * kGb, 20 * kGb, 90, at).map(Math.round),
      temperature_celsius: column(65, 14, 60, at),
      power_watts: column(240, 120, 9.3, at),
    }])),
  };
}
