/** The audit log: filters live in the address, older pages are read on demand. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, urlOf } from "../../api/client.ts";
import type { AuditRecord } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { auditTexts as texts } from "../../texts/records.ts";
import { useSending } from "../../use-sending.ts";
import { AUDIT_COLUMNS } from "./audit-columns.tsx";
import { AuditDrawer } from "./audit-drawer.tsx";
import { AuditFilters, filtersIn } from "./audit-filters.tsx";

const PAGE = 100;

export default function Audit() {
  const { id, query } = address.value;
  const params = { ...filtersIn(query), limit: PAGE };
  const view = JSON.stringify(params);
  const newest = useResource("/audit", params, { on: ["admin", "session"], everyMs: 5_000 });
  const older = useSignal<{ readonly items: readonly AuditRecord[]; readonly next: string | undefined }>({
    items: [],
    next: undefined,
  });
  const sending = useSending();
  // Another filter is another list.
  useEffect(() => {
    older.value = { items: [], next: undefined };
  }, [view]);
  const state = newest.value.value?.state;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={state?.fault ? texts.fault(state.fault) : state?.lost ? texts.lost(state.lost) : texts.answer}
        actions={
          <>
            <Verify />
            <Button
              href={urlOf("/audit", { ...filtersIn(query), format: "jsonl" })}
              title={texts.exportTitle}
            >
              {texts.export}
            </Button>
          </>
        }
      />
      <AuditFilters query={query} />
      <Ready of={newest}>
        {(page) => {
          const rows = joined(page.items, older.value.items);
          const next = older.value.items.length > 0 ? older.value.next : page.nextCursor;
          const open = rows.find(({ seq }) => String(seq) === id);
          const readOlder = () =>
            sending.run(async () => {
              const more = await get("/audit", { ...params, cursor: next });
              older.value = { items: [...older.value.items, ...more.items], next: more.nextCursor };
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
                view={view}
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
        }}
      </Ready>
    </>
  );
}

function Verify() {
  const sending = useSending();
  const verify = () =>
    sending.run(async () => {
      const { ok, count = 0, seq, reason = "" } = await get("/audit/verify");
      toast(ok ? { text: texts.verified(count) } : { text: texts.broken(seq, reason), kind: "failed" });
    });
  return (
    <Button busy={sending.busy} onClick={() => void verify()}>
      {texts.verify}
    </Button>
  );
}

/** New records push old ones from the first page to those that were read before: each is shown once. */
function joined(first: readonly AuditRecord[], older: readonly AuditRecord[]): readonly AuditRecord[] {
  const last = first.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return [...first, ...older.filter(({ seq }) => seq < last)];
}
