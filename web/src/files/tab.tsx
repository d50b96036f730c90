import { timeCell } from "../csv";
import { formatBytes, formatMoment, formatPlural } from "../format";
import { useDrop } from "../open_file";
import { Nothing, Panel } from "../panel";
import { traceAddress, type FileEntry, type FileList } from "../serve/api";
import type { ServedTabProps } from "../serve/tab";
import { useAnswer } from "../serve/use_answer";
import { DataTable, type Column } from "../table";
import "./files.css";
import { FileChooser, UploadLine, useUpload } from "./upload";

// The folder of traces: open one as a report, add another.
export function FilesTab({ isAdmin }: ServedTabProps) {
  const { data, problem, reload } = useAnswer<FileList>("/api/files");
  const limit = data?.upload_limit_bytes;
  const { state, send, cancel } = useUpload(limit ?? 0, reload);
  const mayUpload = isAdmin && limit !== undefined;
  const isOver = useDrop((file) => { if (mayUpload) send(file); });
  if (!data) return problem ? <Nothing>{problem} <button class="tool" onClick={reload}>Try again</button></Nothing> : null;
  if (limit === undefined) {
    return <Nothing>No folder of traces was named. <code>fathom serve DIR</code> lists the traces in DIR here and opens them.</Nothing>;
  }
  const { files } = data;
  return (
    <>
      {isOver && mayUpload && <div class="dropping" data-drop="Drop a trace to add it to the folder" />}
      {mayUpload && (
        <Panel title="Add a trace" note={`of at most ${formatBytes(limit)}; nothing is overwritten`} span={12}>
          <div class="upload">
            <FileChooser send={send} />
            <UploadLine state={state} cancel={cancel} />
          </div>
        </Panel>
      )}
      <Panel title="Traces" note={data.is_complete ? undefined : `the newest ${formatPlural(files.length, "file", "files")}; the folder has more`} span={12}>
        {files.length === 0
          ? <p class="said">The folder is empty.</p>
          : <DataTable label={{ one: "file", many: "files" }} rows={files} columns={kColumns} name={(file) => file.name} sort={{ column: 1, down: true }} height={640} />}
      </Panel>
    </>
  );
}

const kColumns: Column<FileEntry>[] = [
  {
    label: "file",
    value: (file) => file.name,
    text: (file) => (file.is_openable ? <a href={traceAddress(file.name)}>{file.name}</a> : <span class="closed" title="Not a format that Fathom reads">{file.name}</span>),
  },
  { label: "modified", value: (file) => file.modified_ns, text: (file) => formatMoment(file.modified_ns / 1e6), saved: (file) => timeCell(file.modified_ns), width: 190 },
  { label: "size", value: (file) => file.bytes, text: (file) => formatBytes(file.bytes), unit: "bytes", width: 100, narrow: true },
];
