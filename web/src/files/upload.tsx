import { useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../format";
import { traceAddress, upload, type FileEntry, type Upload } from "../serve/api";

export type UploadState =
  | { is: "idle" }
  | { is: "sending"; name: string; share: number }
  | { is: "done"; file: FileEntry }
  | { is: "refused"; name: string; why: string };

// Sends one file at a time; what is over the limit is refused before it is sent.
export function useUpload(limit: number, done: () => void): { state: UploadState; send: (file: File) => void; cancel: () => void } {
  const [state, setState] = useState<UploadState>({ is: "idle" });
  const running = useRef<Upload | null>(null);
  const cancel = () => running.current?.cancel();
  useEffect(() => cancel, []);
  const send = (file: File) => {
    if (running.current) return;
    const { name } = file;
    if (file.size > limit) {
      setState({ is: "refused", name, why: `It has ${formatBytes(file.size)}; the server takes at most ${formatBytes(limit)}.` });
      return;
    }
    setState({ is: "sending", name, share: 0 });
    const sending = upload(file, (share) => setState({ is: "sending", name, share }));
    running.current = sending;
    sending.done.then(
      (entry) => { setState({ is: "done", file: entry }); done(); },
      (error: Error) => setState({ is: "refused", name, why: error.message }),
    ).finally(() => { running.current = null; });
  };
  return { state, send, cancel };
}

export function FileChooser({ send }: { send: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button class="action" onClick={() => input.current?.click()}>Choose a file…</button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Trace to upload"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) send(file);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

// How the upload goes, in a line.
export function UploadLine({ state, cancel }: { state: UploadState; cancel: () => void }) {
  switch (state.is) {
    case "idle":
      return <span class="quiet">or drop it here</span>;
    case "sending":
      return (
        <span class="sending">
          <progress value={state.share} aria-label={`Sending ${state.name}`} />
          <span class="share">{state.share < 1 ? `${Math.round(100 * state.share)} %` : "Checking…"}</span>
          <span class="name">{state.name}</span>
          <button class="tool" onClick={cancel}>Cancel</button>
        </span>
      );
    case "done":
      return (
        <span role="status">
          {state.file.is_openable
            ? <><a href={traceAddress(state.file.name)}>{state.file.name}</a> is there.</>
            : <>{state.file.name} is there, but Fathom does not read its format.</>}
        </span>
      );
    case "refused":
      return <span class="refused" role="alert">{state.name}: {state.why}</span>;
  }
}
