import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { demoSource } from "./demo";
import { Head, Tabs } from "./head";
import { Help } from "./help";
import type { InlineSource } from "./inline_source";
import { TabsOfPage } from "./link";
import { useKeys } from "./keys";
import { fileSource, NotAProfile, useDrop } from "./open_file";
import { SaveButton, saveDrawing, savePicture } from "./save";
import type { Source } from "./source";
import type { Run, Summary } from "./summary";
import { kTabs, tabOf, tabsOf } from "./tabs";

// The page: head, tabs and the tab that the address names.
export function App(props: { report: InlineSource | null; isServed: boolean }) {
  const [source, setSource] = useState<Source | null>(props.report);
  const [summary, setSummary] = useState<Summary | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [hash, setHash] = useState(location.hash);
  const help = useRef<HTMLDialogElement>(null);

  useLayoutEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    let current = true;
    setSummary(null);
    source?.summary().then(
      (found) => current && setSummary(found),
      (error: unknown) => current && setProblem(`${source.name}: ${messageOf(error)}`),
    );
    return () => { current = false; };
  }, [source]);
  useEffect(() => {
    document.title = summary ? `${summary.run.name} · Fathom` : "Fathom";
  }, [summary]);

  const open = async (file: File) => {
    setProblem(null);
    try {
      setSource(await fileSource(file));
      location.hash = "overview";
    } catch (error) {
      setProblem(`${file.name}: ${messageOf(error)}${props.isServed && error instanceof NotAProfile ? " Or add it on the Files tab of the server." : ""}`);
    }
  };
  const dropping = useDrop(open);
  const tabs = source && summary ? tabsOf(source, summary) : kTabs;
  const named = tabOf(hash);
  // An address may name a tab that is not shown: it says how to get what it would show.
  const tab = tabs.includes(named) || !summary?.tabs ? named : tabs[0]!;
  const View = tab.view;
  const ids = useMemo(() => new Set(summary ? tabs.map(({ id }) => id) : []), [source, summary]);
  useLayoutEffect(() => scrollTo(0, 0), [tab.id]); // a link at the bottom of one tab leads to the top of the other
  useKeys(tabs, () => help.current?.showModal());
  const wide = tab.id === "timeline" || tab.id === "flame";
  return (
    <div class={dropping ? "dropping" : ""} data-drop="Drop a profile JSON to open it">
      <Head help={() => help.current?.showModal()} about={summary && <About run={summary.run} />}>
        {wide && <SaveButton kind="PNG" what={`the ${tab.title.toLowerCase()}`} save={() => saveCanvas(tab.id)} />}
        {props.isServed && <a class="tool" href="/#files">All traces</a>}
        {source !== props.report && props.report && <button class="tool" onClick={() => setSource(props.report)}>Back to the report</button>}
        <FileButton label="Open…" open={open} />
      </Head>
      {problem && (
        <div class="problem" role="alert">
          {problem} <button class="tool" onClick={() => setProblem(null)}>Close</button>
        </div>
      )}
      {source && <Tabs tabs={summary ? tabs : []} chosen={tab.id} />}
      <main>
        {!source && <Welcome open={open} demo={() => setSource(demoSource())} />}
        {source && (
          <div id="view" role="tabpanel" aria-label={tab.title} class={wide ? "view wide" : "view"}>
            {summary && <TabsOfPage.Provider value={ids}><View key={source.name} source={source} summary={summary} /></TabsOfPage.Provider>}
          </div>
        )}
      </main>
      <Help dialog={help} tabs={tabs.length} canvasKeys>
        <p class="quiet">
          Blue is GPU work, purple communication, yellow copies and fills, orange the GPU runtime, green the CPU, grey idle. A profile JSON
          dropped onto the page opens in it. The page loads nothing from the network.
        </p>
      </Help>
    </div>
  );
}

// All that is drawn: of a sandwich, both halves.
function saveCanvas(what: string): void {
  const both = document.querySelector<HTMLElement>("#view .both");
  if (both) return void savePicture(what, both);
  const canvas = document.querySelector<HTMLCanvasElement>("#view canvas");
  if (canvas) saveDrawing(what, canvas);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function rankText(run: Run): string | null {
  if (run.rank === null) return null;
  return run.world_size === null ? `rank ${run.rank}` : `rank ${run.rank} of ${run.world_size}`;
}

function About({ run }: { run: Run }) {
  const tags = [...run.devices, rankText(run)].filter((tag) => tag !== null);
  return (
    <>
      <span class="run" title={run.name}>{run.name}</span>
      {tags.map((tag) => <span key={tag} class="tag">{tag}</span>)}
    </>
  );
}

function FileButton(props: { label: string; open: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <button class="tool" title="Open a profile JSON" onClick={() => input.current?.click()}>
      {props.label}
      <input
        ref={input}
        type="file"
        accept=".json,.gz,application/json"
        onClick={(event) => event.stopPropagation()}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) props.open(file);
          event.currentTarget.value = "";
        }}
      />
    </button>
  );
}

function Welcome(props: { open: (file: File) => void; demo: () => void }) {
  return (
    <section class="welcome">
      <h1>Drop a profile here.</h1>
      <p>
        A profile JSON, as <code>export_json</code> writes it, opens in this page. Nothing leaves your machine. A trace of any other
        format: <code>fathom open TRACE</code>.
      </p>
      <FileButton label="Choose a file…" open={props.open} />
      <button class="tool" onClick={props.demo}>Show the demo</button>
    </section>
  );
}
