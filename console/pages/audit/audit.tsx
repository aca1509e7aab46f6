/** The page Audit. Filters are in the address; older records load on demand. */
import { useSignal } from "@preact/signals";
import { get, urlOf } from "../../api/client.ts";
import type { AuditRecord } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { Outcome } from "../../parts/outcome.tsx";
import { WhyPanel } from "../../parts/why-panel.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { auditTexts as texts } from "../../texts/records.ts";
import { useSending } from "../../use-sending.ts";
import { AUDIT_COLUMNS, describeRecord } from "./audit-columns.tsx";
import { auditFacts } from "./audit-facts.tsx";
import { AuditFilters, filtersIn } from "./audit-filters.tsx";

const PAGE = 100;

export default function Audit() {
  const { query } = address.value;
  const filters = filtersIn(query);
  const params = { ...filters, contains: true, limit: PAGE };
  const newest = useResource("/audit", params, { on: ["admin", "session"], everyMs: 5_000 });
  const state = newest.value.value?.state;
  return (
    <>
      <PageHead
        title={texts.title}
        summary={
          state?.fault ? texts.fault(state.fault) : state?.lost ? texts.lost(state.lost) : texts.summary
        }
        actions={
          <>
            <Verify />
            <Button
              href={urlOf("/audit", { ...filters, contains: true, format: "jsonl" })}
              title={texts.exportTitle}
            >
              {texts.export}
            </Button>
          </>
        }
      />
      <AuditFilters query={query} />
      {/* Other filters start a new list, without the older pages read before. */}
      <Ready of={newest}>
        {(page) => <Records key={JSON.stringify(params)} params={params} newest={page} />}
      </Ready>
    </>
  );
}

interface RecordsProps {
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly newest: { readonly items: readonly AuditRecord[]; readonly nextCursor?: string };
}

function Records({ params, newest }: RecordsProps) {
  const { id, query } = address.value;
  const older = useSignal<readonly AuditRecord[]>([]);
  const cursor = useSignal<string | undefined>(undefined);
  const sending = useSending();
  const rows = mergePages(newest.items, older.value);
  const next = older.value.length > 0 ? cursor.value : newest.nextCursor;
  const open = rows.find(({ seq }) => String(seq) === id);
  const readOlder = () =>
    sending.run(async () => {
      const more = await get("/audit", { ...params, cursor: next });
      older.value = [...older.value, ...more.items];
      cursor.value = more.nextCursor;
    });
  return (
    <div class="stack">
      <Table
        label={texts.list}
        rows={rows}
        columns={AUDIT_COLUMNS}
        rowKey={({ seq }) => String(seq)}
        rowName={({ seq }) => texts.record(seq)}
        onOpen={({ seq }) => go({ page: "audit", id: String(seq), query })}
        open={id}
        live
        empty={
          <EmptyState title={texts.empty.title}>
            <p>{texts.empty.text}</p>
          </EmptyState>
        }
      />
      {next && (
        <div class="line">
          <Button busy={sending.busy} onClick={() => void readOlder()}>
            {texts.more}
          </Button>
        </div>
      )}
      {open && <AuditDrawer key={open.seq} record={open} />}
    </div>
  );
}

function Verify() {
  const sending = useSending();
  const verify = () =>
    sending.run(async () => {
      const verdict = await get("/audit/verify");
      if (verdict.ok) toast({ text: texts.verified(verdict.count, verdict.lost ?? 0) });
      else toast({ text: texts.broken(verdict.seq, verdict.reason), kind: "failed" });
    });
  return (
    <Button busy={sending.busy} onClick={() => void verify()}>
      {texts.verify}
    </Button>
  );
}

/**
 * Joins the first page and the older ones. New records move others from the first page to the older ones, so
 * duplicates are removed.
 */
function mergePages(first: readonly AuditRecord[], older: readonly AuditRecord[]): readonly AuditRecord[] {
  const last = first.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return [...first, ...older.filter(({ seq }) => seq < last)];
}

/** Shows one record: why it failed, its facts, and all of it. */
function AuditDrawer({ record }: { readonly record: AuditRecord }) {
  const { endpoint, server, tool, outcome, kind } = record;
  const text = JSON.stringify(record, null, 2);
  return (
    <Drawer
      title={texts.record(record.seq)}
      subtitle={describeRecord(record)}
      onClose={() => go({ page: "audit", query: address.value.query })}
      actions={<CopyButton text={text} />}
    >
      <div class="stack">
        {kind === "call" && endpoint && server && tool !== undefined ? (
          <WhyPanel call={{ ...record, endpoint, server, tool }} />
        ) : (
          outcome !== "ok" && <Outcome of={record} />
        )}
        <KeyValues items={auditFacts(record)} />
        <JsonTree label={texts.record(record.seq)} value={record} />
      </div>
    </Drawer>
  );
}
