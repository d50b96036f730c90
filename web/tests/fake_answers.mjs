// What the fake server answers, as JSON, for a test of the real one that compares it with docs/openapi.yaml
// (tests/serve/openapi_test.cpp).
import { alert, fakeServer, gpu, pastOf, session } from "./fake_server.mjs";

const devices = [gpu(0), gpu(1, { state: "lost", processes: [] })];
const server = await fakeServer({
  devices,
  alerts: [alert(1), alert(2, { cleared_ns: 2 })],
  history: pastOf(devices, 3, 1000),
  sessions: [session("1"), session("2", { stopped_ns: 2 })],
  files: [{ name: "run.json", bytes: 1, modified_ns: 1, is_openable: true }],
});
const headers = { Cookie: server.cookies.map(({ name, value }) => `${name}=${value}`).join("; ") };
const answers = [];
const ask = async (method, path, { at = path, body } = {}) => {
  const response = await fetch(new URL(at, server.url), { method, headers, body });
  answers.push({ method, path, status: response.status, body: await response.json() });
};
await ask("GET", "/api/me");
await ask("GET", "/api/gpu/status");
await ask("GET", "/api/gpu/history");
await ask("GET", "/api/sessions");
await ask("POST", "/api/sessions", { body: JSON.stringify({ name: "new" }) });
await ask("POST", "/api/sessions", { body: JSON.stringify({ name: "new" }) });
await ask("GET", "/api/sessions/{id}", { at: "/api/sessions/1" });
await ask("GET", "/api/sessions/{id}", { at: "/api/sessions/none" });
await ask("POST", "/api/sessions/{id}/stop", { at: "/api/sessions/1/stop" });
await ask("GET", "/api/files");
await ask("POST", "/api/files", { at: "/api/files?name=x.json", body: "x" });
await ask("POST", "/api/files", { at: "/api/files?name=x.json", body: "x".repeat(2000) });
await ask("POST", "/api/login", { body: JSON.stringify({ token: "right" }) });
await ask("POST", "/api/login", { body: JSON.stringify({ token: "wrong" }) });
await ask("POST", "/api/logout");
process.stdout.write(JSON.stringify(answers));
await server.gone();
