/** Shows one complete audit record. */
import type { AuditRecord } from "../../api/types.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { address, go } from "../../navigate.ts";
import { auditTexts as texts } from "../../texts/records.ts";
import { describeRecord } from "./audit-columns.tsx";

export function AuditDrawer({ record }: { readonly record: AuditRecord }) {
  const text = JSON.stringify(record, null, 2);
  return (
    <Drawer
      title={texts.record(record.seq)}
      subtitle={describeRecord(record)}
      onClose={() => go({ page: "audit", query: address.value.query })}
      actions={<CopyButton text={text} />}
    >
      <JsonTree label={texts.record(record.seq)} value={record} />
    </Drawer>
  );
}
