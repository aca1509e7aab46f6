/** Which tools of an endpoint a caller may use and why not the others; two callers side by side. */
import type { ToolRow } from "../../api/types.ts";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { STATES, useList } from "../../live/resource.ts";
import { commonGates, ownGates } from "../../parts/tool-gates.ts";
import { me } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";

const texts = endpointsTexts.preview;

const TOOL: Column<{ readonly row: ToolRow }> = {
  id: "tool",
  head: texts.columns.name,
  mono: true,
  value: ({ row }) => nameOf(row),
};

const WHY: Column<{ readonly row: ToolRow }> = {
  id: "why",
  head: texts.columns.why,
  width: "60%",
  value: ({ row }) => row.because ?? "",
};

interface HiddenToolsProps {
  readonly endpoint: string;
  /** Undefined: the reader. */
  readonly as: string | undefined;
}

/** Without a caller the list would be that of nobody. The admin token has no account. */
function self(): string | undefined {
  return me.value?.account?.uuid;
}

/** People who may not read the config get only what they may use, so this has nothing to show for them. */
export function HiddenTools({ endpoint, as }: HiddenToolsProps) {
  const rows = useList("/endpoints/:uuid/tools", { uuid: endpoint, as: as ?? self() }, STATES).value.value;
  const hidden = (rows ?? []).filter(({ enabled }) => !enabled).map((row) => ({ row }));
  if (!rows || hidden.length === 0) return null;
  return (
    <>
      <h3>{texts.hidden(hidden.length, rows.length)}</h3>
      <Table
        label={texts.hidden(hidden.length, rows.length)}
        rows={hidden}
        columns={[TOOL, WHY]}
        rowKey={keyOf}
      />
    </>
  );
}

interface Pair {
  readonly row: ToolRow;
  readonly other: ToolRow | undefined;
}

interface ComparedToolsProps {
  readonly endpoint: string;
  readonly callers: readonly [string | undefined, string];
  readonly names: readonly [string, string];
}

/** Tools that only one of them may use come first. */
export function ComparedTools({ endpoint, callers: [as, and], names }: ComparedToolsProps) {
  const left = useList("/endpoints/:uuid/tools", { uuid: endpoint, as: as ?? self() }, STATES);
  const right = useList("/endpoints/:uuid/tools", { uuid: endpoint, as: and }, STATES);
  const side = (id: "row" | "other", name: string, common: readonly string[]): Column<Pair> => ({
    id,
    head: name,
    value: (pair) => sortOf(pair[id]),
    cell: (pair) => <SeenTool row={pair[id]} common={common} />,
  });
  return (
    <Ready of={left}>
      {(rows) => (
        <Ready of={right}>
          {(others) => {
            const common = commonGates([...rows, ...others]);
            const otherOf = new Map(others.map((row) => [nameOf(row), row]));
            const pairs = rows.map((row) => ({ row, other: otherOf.get(nameOf(row)) }));
            const differ = pairs.filter((pair) => sortOf(pair.row) !== sortOf(pair.other));
            const same = pairs.filter((pair) => sortOf(pair.row) === sortOf(pair.other));
            return (
              <>
                <p>{texts.differ(differ.length, pairs.length)}</p>
                {common.length > 0 && <p class="muted">{texts.common(common.join("; "))}</p>}
                <Table
                  label={texts.compared}
                  rows={[...differ, ...same]}
                  columns={[TOOL, side("row", names[0], common), side("other", names[1], common)]}
                  rowKey={keyOf}
                />
              </>
            );
          }}
        </Ready>
      )}
    </Ready>
  );
}

interface SeenToolProps {
  readonly row: ToolRow | undefined;
  /** Checks that all tools have. */
  readonly common: readonly string[];
}

function SeenTool({ row, common }: SeenToolProps) {
  if (!row?.enabled) return <Status state="off" word={texts.no} reason={row?.because} />;
  const gates = ownGates(row, common);
  const checked = gates.length > 0;
  return (
    <Status
      state={checked ? "warn" : "ok"}
      word={checked ? texts.checked : texts.yes}
      reason={gates.join("; ") || undefined}
    />
  );
}

/** May, may with a check, or may not. */
function sortOf(row: ToolRow | undefined): string {
  return row?.enabled ? `yes ${row.gates?.join() ?? ""}` : "no";
}

function nameOf({ serverName = "", tool }: ToolRow): string {
  return `${serverName}:${tool}`;
}

function keyOf({ row }: { readonly row: ToolRow }): string {
  return nameOf(row);
}
