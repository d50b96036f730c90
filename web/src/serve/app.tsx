import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FilesTab } from "../files/tab";
import { formatClock } from "../format";
import { Head, Tabs } from "../head";
import { Help } from "../help";
import { useKeys } from "../keys";
import { Announcer } from "../live/alerts";
import { Feed, useFeed } from "../live/feed";
import { LiveTab } from "../live/tab";
import { SessionsTab } from "../sessions/tab";
import { ask, onLoggedOut, Refusal, type Me, type Role } from "./api";
import { Login } from "./login";
import "./serve.css";
import type { ServedTab } from "./tab";

const kServedTabs: readonly ServedTab[] = [
  { id: "live", title: "Live", view: LiveTab },
  { id: "sessions", title: "Sessions", view: SessionsTab },
  { id: "files", title: "Files", view: FilesTab },
];

const kFrameMs = 250; // what is around the tabs need not follow ten samples per second

// The page of `fathom serve`: a login for those whom the server does not know, and its tabs for the others.
export function ServedApp() {
  const [role, setRole] = useState<Role | null | undefined>(undefined); // undefined: not known yet
  const [problem, setProblem] = useState("");

  const enter = (found: Role | null) => {
    const isElsewhere = location.pathname !== "/"; // the login of a trace's page
    if (isElsewhere && found && found !== "metrics") location.reload();
    else setRole(found);
  };
  const logIn = async (token: string) => {
    try {
      enter((await ask<Me>("/api/login", { body: { token } })).role);
      setProblem("");
    } catch (error) {
      setRole(null);
      setProblem(error instanceof Refusal ? error.message : String(error));
    }
  };
  useLayoutEffect(() => {
    onLoggedOut(() => setRole(null));
    const token = takeToken();
    if (token) void logIn(token);
    else ask<Me>("/api/me").then((me) => setRole(me.role), (error: Error) => { setRole(null); setProblem(error.message); });
  }, []);

  if (role === undefined) return <div class="served" />;
  if (role === null || role === "metrics") return <Login logIn={logIn} problem={role === "metrics" ? kMetricsAlone : problem} />;
  return <Board isAdmin={role === "admin"} leave={() => setRole(null)} />;
}

const kMetricsAlone = "This token may read /metrics alone. Log in with one of role viewer or admin.";

// The token of an address that the terminal printed (#token=…). It is taken out of the address at once: it belongs
// neither in the history nor in a link that somebody copies.
function takeToken(): string | null {
  const token = location.hash.match(/^#token=(.*)$/)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return decoded(token);
}

// Percent signs resolved; as it is where they make no sense.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Board(props: { isAdmin: boolean; leave: () => void }) {
  const [feed] = useState(() => new Feed());
  const [hash, setHash] = useState(location.hash);
  const help = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, []);
  useFeed(feed, kFrameMs);
  useKeys(kServedTabs, () => help.current?.showModal());

  const [id = "", ...rest] = hash.slice(1).split("/");
  const tab = kServedTabs.find((one) => one.id === id) ?? kServedTabs[0]!;
  const place = tab.id === id ? decoded(rest.join("/")) : "";
  const lasting = feed.status?.alerts.filter(({ cleared_ns }) => cleared_ns === undefined).length ?? 0;
  useEffect(() => {
    document.title = `${lasting > 0 ? `(${lasting}) ` : ""}${tab.title} · Fathom`;
  }, [lasting, tab]);

  const View = tab.view;
  const logOut = () => void ask<Me>("/api/logout", {}).catch(() => {}).then(props.leave);
  return (
    <div class="served">
      <Head about={feed.status?.demo && <span class="tag demo" title="These GPUs do not exist">demo</span>} help={() => help.current?.showModal()}>
        <button class="tool" onClick={logOut}>Log out</button>
      </Head>
      {feed.connection === "lost" && (
        <div class="problem" role="status">
          {feed.status ? `No connection to the server since ${formatClock(feed.lostAt)}.` : "No connection to the server."} Trying again…
        </div>
      )}
      <Tabs tabs={kServedTabs} chosen={tab.id} />
      <main>
        <div id="view" role="tabpanel" aria-label={tab.title} class={`view ${tab.id}-view`}>
          <View key={tab.id} feed={feed} isAdmin={props.isAdmin} place={place} />
        </div>
      </main>
      <Announcer status={feed.status} />
      <Help dialog={help} tabs={kServedTabs.length}>
        <p class="quiet">
          Amber and red mean that an alert lasts. A pointer over one trend shows the same instant in all. Nothing is asked while the page
          is hidden. The page loads nothing from anywhere but its server.
        </p>
      </Help>
    </div>
  );
}
