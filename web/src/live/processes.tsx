import { useMemo, useState } from "preact/hooks";
import { formatBytes, formatCount, known } from "../format";
import { Panel } from "../panel";
import type { Device, Process } from "../serve/api";
import { DataTable, type Column } from "../table";
import { useFeed, type Feed } from "./feed";

type Row = Process & { gpu: number };

const kColumns: Column<Row>[] = [
  { label: "program", value: (row) => row.name, text: (row) => <>{row.name} {row.command && <small>{row.command}</small>}</>, saved: [["program", (row) => row.name], ["command", (row) => row.command ?? null]] },
  { label: "GPU", value: (row) => row.gpu, text: (row) => row.gpu, width: 64, narrow: true },
  { label: "pid", value: (row) => row.pid, text: (row) => row.pid, width: 96 },
  { label: "memory", value: (row) => row.memory_bytes ?? null, text: (row) => known(row.memory_bytes ?? null, formatBytes), unit: "bytes", width: 104, narrow: true },
  {
    label: "utilisation",
    value: (row) => row.utilization_percent ?? null,
    text: (row) => known(row.utilization_percent ?? null, (percent) => `${formatCount(percent)} %`),
    unit: "%",
    width: 104,
  },
];

// The programs that use the GPUs. They are sorted anew once per second, so that rows can be read.
export function Processes({ feed }: { feed: Feed }) {
  useFeed(feed, 1000);
  const [gpu, setGpu] = useState("");
  const devices = feed.status?.devices ?? [];
  const rows = useMemo(() => rowsOf(devices.filter(({ index }) => gpu === "" || String(index) === gpu)), [feed.status, gpu]);
  const isPartial = devices.some(({ processes_are_partial }) => processes_are_partial);
  if (devices.length === 0) return null;
  return (
    <Panel title="Processes" note={isPartial ? "those of other users may be missing" : undefined} span={12}>
      <DataTable
        label={{ one: "process", many: "processes" }}
        rows={rows}
        columns={kColumns}
        name={(row) => `${row.name} ${row.command ?? ""} ${row.pid}`}
        sort={{ column: 3, down: true }}
        height={420}
        isLive
        filter={devices.length > 1 && (
          <select aria-label="GPU" value={gpu} onChange={(event) => setGpu(event.currentTarget.value)}>
            <option value="">All GPUs</option>
            {devices.map(({ index, uuid }) => <option key={uuid} value={String(index)}>GPU {index}</option>)}
          </select>
        )}
      />
    </Panel>
  );
}

const rowsOf = (devices: Device[]): Row[] =>
  devices.flatMap(({ index, processes }) => processes.map((process) => ({ ...process, gpu: index })));
