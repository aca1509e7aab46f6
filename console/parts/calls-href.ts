/** The address of the calls behind a figure: in the audit log, which restarts do not shorten. */
import { hrefOf } from "../address.ts";

export interface CallsFilter {
  readonly client?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly principalName?: string | undefined;
  readonly key?: string | undefined;
  readonly outcome?: string | undefined;
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function callsHref({ from, to, ...filter }: CallsFilter): string {
  const query = { kind: "call", ...filter, from: localTime(from), to: localTime(to) };
  return hrefOf({ page: "audit", query });
}

/** As fields for times have it: local, without zone. */
function localTime(iso: string | undefined): string | undefined {
  if (iso === undefined) return undefined;
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
