/** Samples: tables. */
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { type State as StateName, Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { HOSTILE } from "./hostile.ts";
import { State } from "./state.tsx";

interface Server {
  readonly name: string;
  readonly state: StateName;
  readonly word: string;
  readonly reason: string;
  readonly tools: number;
  readonly calls: number;
}

const SERVERS: readonly Server[] = [
  { name: "github", state: "bad", word: "Failed", reason: "token expired, 4 min ago", tools: 41, calls: 0 },
  { name: "playwright", state: "busy", word: "Connecting", reason: "downloading, 12 s", tools: 22, calls: 3 },
  { name: "filesystem", state: "ok", word: "Running", reason: "since 3 h", tools: 13, calls: 412 },
  { name: HOSTILE, state: "warn", word: "Degraded", reason: HOSTILE, tools: 1, calls: 7 },
  { name: "memory", state: "off", word: "Disabled", reason: "by ada, yesterday", tools: 9, calls: 0 },
];

const COLUMNS: readonly Column<Server>[] = [
  { id: "name", head: "Server", value: ({ name }) => name, mono: true, width: "30%" },
  {
    id: "state",
    head: "State",
    value: ({ word, reason }) => `${word} ${reason}`,
    cell: ({ state, word, reason }) => <Status state={state} word={word} reason={reason} />,
  },
  {
    id: "tools",
    head: "Tools",
    value: ({ tools }) => tools,
    align: "end",
    width: "80px",
    hideBelow: "small",
  },
  {
    id: "course",
    head: "Last hour",
    cell: ({ calls }) => (
      <Sparkline
        label="Calls per minute"
        values={Array.from({ length: 20 }, (_, at) => ((at * 7) % 11) * calls)}
        width={80}
        height={20}
      />
    ),
    width: "112px",
    hideBelow: "medium",
  },
  { id: "calls", head: "Calls/min", value: ({ calls }) => calls, align: "end", width: "104px" },
];

export function Tables() {
  const [open, setOpen] = useState<string>();
  const [search, setSearch] = useState("");
  return (
    <>
      <State name="Sort, search, select, open">
        <Table
          label="Servers"
          rows={SERVERS}
          columns={COLUMNS}
          rowKey={({ name }) => name}
          open={open}
          onOpen={({ name }) => setOpen(name)}
          sorting={{ column: "calls", descending: true }}
          search={search}
          onSearch={setSearch}
          tools={<Button>Add server</Button>}
          bulk={(rows) => (
            <>
              <Button size="small">Restart {rows.length}</Button>
              <Button size="small" kind="danger">
                Disable
              </Button>
            </>
          )}
        />
      </State>
      <State name="Read-only, and empty">
        <Table
          label="Endpoints"
          rows={SERVERS.slice(1, 3)}
          columns={COLUMNS.slice(0, 3)}
          rowKey={({ name }) => name}
        />
        <Table
          label="Servers"
          rows={[]}
          columns={COLUMNS}
          rowKey={({ name }) => name}
          empty={
            <EmptyState
              title="No servers yet"
              action={<Button kind="primary">Add server</Button>}
              line="metamcp gateway import ~/.cursor/mcp.json"
            >
              A server provides tools. Add one from the gallery, with a form, or paste the JSON of another
              client.
            </EmptyState>
          }
        />
      </State>
    </>
  );
}

interface Tool {
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly tokens: number;
}

const TOOLS: readonly Tool[] = Array.from({ length: 5000 }, (_, at) => ({
  id: String(at),
  name: `${["search", "create", "list", "delete"][at % 4]}_${["issues", "files", "pages"][at % 3]}_${at}`,
  server: `server-${at % 50}`,
  tokens: 80 + ((at * 37) % 900),
}));

const TOOL_COLUMNS: readonly Column<Tool>[] = [
  { id: "name", head: "Tool", value: ({ name }) => name, mono: true },
  { id: "server", head: "Server", value: ({ server }) => server, width: "160px", hideBelow: "small" },
  { id: "tokens", head: "Tokens", value: ({ tokens }) => tokens, align: "end", width: "100px" },
];

export function LongTable() {
  const [search, setSearch] = useState("");
  return (
    <State name="5 000 rows in a scrolling box">
      <div class="samples-scroll">
        <Table
          label="Tools"
          rows={TOOLS}
          columns={TOOL_COLUMNS}
          rowKey={({ id }) => id}
          rowName={({ name }) => name}
          search={search}
          onSearch={setSearch}
          searchLabel="Search tools"
          bulk={() => <Button size="small">Switch off</Button>}
        />
      </div>
    </State>
  );
}

interface Call {
  readonly id: number;
  readonly tool: string;
  readonly ms: number;
}

const CALL_COLUMNS: readonly Column<Call>[] = [
  { id: "id", head: "Call", value: ({ id }) => id, width: "80px" },
  { id: "tool", head: "Tool", value: ({ tool }) => tool, mono: true },
  {
    id: "ms",
    head: "Time",
    value: ({ ms }) => ms,
    cell: ({ ms }) => `${ms} ms`,
    align: "end",
    width: "88px",
  },
];

const callOf = (id: number): Call => ({ id, tool: TOOLS[id % 5000]?.name ?? "", ms: (id * 13) % 400 });

export function LiveTable() {
  const [last, setLast] = useState(6);
  const [running, setRunning] = useState(false);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setLast((id) => id + 1), 700);
    return () => clearInterval(timer);
  }, [running]);
  const rows = Array.from({ length: Math.min(last, 8) }, (_, at) => callOf(last - at));
  return (
    <State name="New rows wait while the pointer is on the table">
      <div class="line">
        <Button size="small" pressed={running} onClick={() => setRunning(!running)}>
          Let calls arrive
        </Button>
      </div>
      <Table
        label="Calls"
        live
        rows={rows}
        columns={CALL_COLUMNS}
        rowKey={({ id }) => String(id)}
        onOpen={() => {}}
      />
    </State>
  );
}
