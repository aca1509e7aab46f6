/** The facts of one audit record, with links to what it names. */
import { hrefOf } from "../../address.ts";
import type { AuditRecord } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { KeyValue } from "../../components/key-values.tsx";
import { duration, exactly, size } from "../../format.ts";
import { KeyLink, ObjectLinks } from "../../parts/object-links.tsx";
import { auditTexts as texts } from "../../texts/records.ts";
import { serverTexts } from "../../texts/servers.ts";
import { trafficTexts } from "../../texts/traffic.ts";

export function auditFacts(record: AuditRecord): readonly KeyValue[] {
  const { principal, client, tried, endpoint, server, tool, address, session, revision } = record;
  const { durationMs, requestBytes, resultBytes } = record;
  const { columns, filters } = texts;
  const { one } = trafficTexts;
  const all: readonly (KeyValue | false | undefined)[] = [
    { key: columns.at, value: exactly(Date.parse(record.at)) },
    principal && { key: columns.who, value: <ForeignText text={principal.name ?? principal.id} /> },
    principal?.key && { key: filters.key, value: <KeyLink of={principal.key} /> },
    tried?.email !== undefined && { key: texts.tried, value: <ForeignText text={tried.email} /> },
    client && { key: texts.client, value: <ForeignText text={client.name} /> },
    endpoint && { key: filters.endpoint, value: named("endpoints", endpoint), mono: true },
    server && { key: filters.server, value: named("servers", server), mono: true },
    tool !== undefined && { key: filters.tool, value: <ForeignText text={tool} />, mono: true },
    durationMs !== undefined && { key: columns.duration, value: duration(durationMs) },
    requestBytes !== undefined && { key: one.sent, value: size(requestBytes) },
    resultBytes !== undefined && { key: one.got, value: size(resultBytes) },
    address !== undefined && { key: texts.address, value: address, mono: true },
    session !== undefined && {
      key: filters.session,
      value: <a href={hrefOf({ page: "audit", query: { session } })}>{session}</a>,
      mono: true,
      copy: session,
    },
    revision !== undefined && {
      key: texts.change,
      value: (
        <a href={hrefOf({ page: "history", id: String(revision) })}>
          {serverTexts.fields.revision(revision)}
        </a>
      ),
    },
  ];
  return all.filter((fact) => typeof fact === "object");
}

function named(
  page: "endpoints" | "servers",
  { uuid, name }: { readonly uuid?: string; readonly name: string },
) {
  return uuid === undefined ? <ForeignText text={name} /> : <ObjectLinks page={page} to={[{ uuid, name }]} />;
}
