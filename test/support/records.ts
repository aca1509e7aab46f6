/** Reads the audit records and recent calls of a gateway, oldest first. */
import type { TeamGateway } from "./team-gateway.ts";
import { until } from "./until.ts";

export type Row = Readonly<Record<string, unknown>> & {
  readonly server: { readonly name: string; readonly uuid?: string };
  readonly tool: string;
  readonly outcome: string;
  readonly code?: string;
  readonly via?: string;
};

type Api = Pick<TeamGateway, "api">;

export async function recentCalls({ api }: Api): Promise<readonly Row[]> {
  return (await api("GET", "/calls")).body.items.toReversed();
}

/** Waits for this number of records, because they are written asynchronously. */
export async function auditRecords({ api }: Api, query = "", count = 1): Promise<readonly Row[]> {
  return await until(
    async () => {
      const { body } = await api("GET", `/audit?limit=500${query}`);
      return body.items.length >= count ? body.items.toReversed() : undefined;
    },
    { what: `${count} audit records` },
  );
}

/** A record as one line: via, tool, outcome, code. */
export function callSummary({ server, tool, outcome, code, via }: Row): string {
  return [via, `${server.name}:${tool}`, outcome, code].filter((part) => part !== undefined).join(" ");
}
