/** A row as it is written, in the audit log and to who watches: JSON without its end and without the time. */
import type { CallRow } from "./call-row.ts";
import type { Named } from "./names.ts";
import { quoted, quotedObject } from "./quoted.ts";

export interface RowText {
  /** The same text for all calls of one tool in a session, while nothing is called otherwise. Begins as records do. */
  readonly head: string;
  readonly rest: string;
}

const RECORD = '{"kind":"call",';

/** Its members alone. */
export function membersOf({ head, rest }: RowText): string {
  return head.slice(RECORD.length) + rest;
}

/** Put together from parts that most rows share: as a whole it would cost four times as much. */
export function rowText(row: CallRow): RowText {
  const { traceId } = row;
  let rest = `,"outcome":"${row.outcome}","durationMs":${msText(row.durationMs)},"requestBytes":${row.requestBytes},"resultBytes":${row.resultBytes}`;
  if (traceId !== undefined) rest += `,"traceId":"${traceId}"`;
  if (isOdd(row))
    for (const name of SELDOM) if (row[name] !== undefined) rest += `,"${name}":${JSON.stringify(row[name])}`;
  return { head: headOf(row), rest };
}

interface SessionHead {
  readonly endpoint: Named;
  readonly surface: string | undefined;
  readonly text: string;
  /** Of the tool that was called last. */
  last: { readonly server: Named; readonly tool: string; readonly text: string } | undefined;
}

/** By the principal, which is one object for each session. */
const heads = new WeakMap<object, SessionHead>();

function headOf(row: CallRow): string {
  const { server, tool } = row;
  const session = sessionHead(row);
  if (session.last?.tool !== tool || session.last.server !== server) {
    const text = `${session.text},"server":${quotedObject(server)},"tool":${quoted(tool)}`;
    session.last = { server, tool, text };
  }
  return session.last.text;
}

/** What all rows of a session begin with, as long as its endpoint is called the same. */
function sessionHead({ principal, client, endpoint, session, surface }: CallRow): SessionHead {
  const known = heads.get(principal);
  if (known && known.endpoint.name === endpoint.name && known.surface === surface) return known;
  const members = JSON.stringify({ principal, client, endpoint, session, surface }).slice(1, -1);
  const made: SessionHead = { endpoint, surface, text: RECORD + members, last: undefined };
  heads.set(principal, made);
  return made;
}

const THOUSANDTHS = Array.from({ length: 1_000 }, (_, of) => (of === 0 ? "" : String(of / 1_000).slice(1)));

/** Of a time with three digits: to write a fraction as such costs as much as all the rest. */
function msText(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  return `${Math.floor(thousandths / 1_000)}${THOUSANDTHS[thousandths % 1_000]}`;
}

const SELDOM = [
  "via",
  "method",
  "code",
  "by",
  "attempts",
  "cached",
  "read",
  "approval",
] as const satisfies readonly (keyof CallRow)[];

/** Whether it has one of these. Looked for by name: to go through the list costs more than to write the rest. */
function isOdd({ via, method, code, by, attempts, cached, read, approval }: CallRow): boolean {
  return (via ?? method ?? code ?? by ?? attempts ?? cached ?? read ?? approval) !== undefined;
}
