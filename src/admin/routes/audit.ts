/** Routes to read and verify the audit log. */

import { may } from "../../access/may.ts";
import { BOOLEAN, DATE } from "../../kernel/json-schema.ts";
import type { Audit, AuditQuery, StoredAuditRecord } from "../../store/store.ts";
import { AUDIT_FIELDS, AUDIT_PAGE, AUDIT_VERDICT, type ShownRecord } from "../observe-schemas.ts";
import { cursorAt, cursorIn } from "../page.ts";
import { JSON_LINES, LIST_QUERY, type QueryOf, route } from "../route.ts";

import { FORMAT, jsonLinesFile } from "./calls.ts";
import type { AdminParts } from "./parts.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Fields that are filtered by uuid, or by the name that the object had at that time. */
const NAMED: ReadonlySet<string> = new Set(["endpoint", "server", "object"]);

export function auditRoutes({ observed }: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/audit",
      summary: "Read the audit log, newest first, filtered by fields and time",
      tag: "audit",
      action: "audit.read",
      query: {
        limit: LIST_QUERY.limit,
        cursor: LIST_QUERY.cursor,
        from: { ...DATE, description: "from this time on" },
        to: { ...DATE, description: "before this time" },
        after: { type: "integer", minimum: 0, description: "only records with a greater seq" },
        ...AUDIT_FIELDS,
        contains: {
          ...BOOLEAN,
          description:
            "names need only contain the text, in upper or lower case: principalName, client, endpoint, server, tool, object, reason",
        },
        format: { ...FORMAT.format, description: "jsonl: download the newest 10,000, one per line" },
      },
      answer: AUDIT_PAGE,
      answerTypes: ["application/json", JSON_LINES],
      async handle({ query, principal }) {
        const { limit, from, to, after } = query;
        const cursor = cursorIn(query);
        const auditQuery = {
          ...membersIn(query),
          limit,
          ...(from !== undefined && { from: Date.parse(from) }),
          ...(to !== undefined && { to: Date.parse(to) }),
          ...(after !== undefined && { after }),
          ...(cursor === undefined ? {} : { cursor: Number(cursor) }),
        };
        const whole = may(principal, "arguments.read");
        if (query.format === "jsonl") {
          const records = await allOf(observed.records, auditQuery);
          return jsonLinesFile(
            "audit",
            records.map((record) => shown(record, whole)),
          );
        }
        const page = await observed.records.query(auditQuery);
        return {
          body: {
            items: page.items.map((record) => shown(record, whole)),
            ...(page.nextCursor === undefined ? {} : { nextCursor: cursorAt(String(page.nextCursor)) }),
            state: observed.audit.state,
          },
        };
      },
    }),
    route({
      method: "GET",
      path: "/audit/verify",
      summary: "Check that no record was changed or removed",
      tag: "audit",
      action: "audit.read",
      answer: AUDIT_VERDICT,
      handle: async () => ({ body: await observed.records.verify() }),
    }),
  ];
}

const MAX_EXPORTED = 10_000;
const MAX_ON_A_PAGE = 500;

/** Reads page by page, newest first, up to `MAX_EXPORTED` records. */
async function allOf(
  records: Pick<Audit, "query">,
  auditQuery: AuditQuery,
): Promise<readonly StoredAuditRecord[]> {
  const found: StoredAuditRecord[] = [];
  let { cursor } = auditQuery;
  do {
    const page = await records.query({
      ...auditQuery,
      limit: MAX_ON_A_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < MAX_EXPORTED);
  return found.slice(0, MAX_EXPORTED);
}

/** The path of a field in a record, if it differs from the name of the field. */
const PATHS: Readonly<Record<string, string>> = {
  principal: "principal.id",
  principalKind: "principal.kind",
  principalName: "principal.name",
  key: "principal.key.id",
  actor: "principal.actor.id",
  client: "client.name",
  approvedBy: "approval.by.id",
  objectKind: "object.kind",
};

/** Fields that may be found by a part of them. */
const SEARCHED: ReadonlySet<string> = new Set([
  "principalName",
  "client",
  "endpoint",
  "server",
  "tool",
  "object",
  "reason",
]);

function membersIn(
  query: QueryOf<typeof AUDIT_FIELDS> & { readonly contains?: boolean | undefined },
): Pick<AuditQuery, "members" | "containing"> {
  const names = Object.keys(AUDIT_FIELDS) as (keyof typeof AUDIT_FIELDS)[];
  const given = names.flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [{ name, text: String(value) }];
  });
  const isPart = ({ name, text }: (typeof given)[number]): boolean =>
    query.contains === true && SEARCHED.has(name) && !UUID.test(text);
  const byPath = (some: typeof given) =>
    Object.fromEntries(some.map(({ name, text }) => [pathOf(name, text), text]));
  return { members: byPath(given.filter((one) => !isPart(one))), containing: byPath(given.filter(isPart)) };
}

function pathOf(name: string, value: string): string {
  if (NAMED.has(name)) return `${name}.${UUID.test(value) ? "uuid" : "name"}`;
  return PATHS[name] ?? name;
}

/** `whole`: with arguments and results. */
function shown({ seq, at, hash, body }: StoredAuditRecord, whole: boolean): ShownRecord {
  const { arguments: args, results, ...rest } = body as Omit<ShownRecord, "seq" | "at" | "hash">;
  return {
    seq,
    at: new Date(at).toISOString(),
    ...rest,
    ...(whole && args !== undefined && { arguments: args }),
    ...(whole && results !== undefined && { results }),
    hash,
  };
}
