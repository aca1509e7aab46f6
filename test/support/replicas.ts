/**
 * Several `metamcp serve` on one Postgres schema, each with its own home, and single requests of both eras to
 * any of them.
 */
import { describe } from "vitest";
import { envelope, era2026Headers } from "./eras.ts";
import { HEADERS, messages } from "./http-gateway.ts";
import { ADMIN_TOKEN } from "./team-gateway.ts";
import { type TeamProcess, teamProcess } from "./team-process.ts";
import { type Temp, temp } from "./temp.ts";
import { noPostgres, postgresDatabase, type TestDatabase } from "./test-databases.ts";
import { until } from "./until.ts";

export const SECRET = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };

/**
 * A suite that is skipped, and says why, if there is no Postgres. Tests that start, kill and stop several
 * processes take three times as long while others need both cores.
 */
export function onPostgres(name: string, suite: () => void): void {
  const whole = `${name}, on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`;
  describe.skipIf(noPostgres)(whole, { timeout: 120_000 }, suite);
}

export interface Replica extends TeamProcess {
  readonly folder: Temp;
}

export interface ReplicaOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new one. */
  readonly folder?: Temp;
}

export async function startReplica(
  { url }: Pick<TestDatabase, "url">,
  { flags = [], env = {}, folder = temp() }: ReplicaOptions = {},
): Promise<Replica> {
  const gateway = await teamProcess(folder, {
    flags: ["--store", url, ...flags],
    env: { ...SECRET, ...env },
  });
  // The members of a gateway are getters, so they are inherited.
  return Object.assign(Object.create(gateway) as TeamProcess, { folder });
}

export async function twoReplicas(
  options?: ReplicaOptions,
): Promise<{ readonly one: Replica; readonly two: Replica; readonly database: TestDatabase }> {
  const database = await postgresDatabase();
  const [one, two] = [await startReplica(database, options), await startReplica(database, options)];
  return { one, two, database };
}

/**
 * A namespace with these servers and an endpoint `team` with each surface: `team-aggregate`, `team-meta`, …
 * Returns a key for all.
 */
export async function makeTeam(
  { api, key }: TeamProcess,
  servers: Readonly<Record<string, object>>,
  endpoints: Readonly<Record<string, object>>,
): Promise<string> {
  for (const [name, entry] of Object.entries(servers)) await api("POST", "/mcp-servers", { name, ...entry });
  const listed = Object.keys(servers).map((server) => ({ server }));
  await api("POST", "/namespaces", { name: "team", servers: listed });
  for (const [name, spec] of Object.entries(endpoints))
    await api("POST", "/endpoints", { name, namespaces: ["team"], ...spec });
  return await key();
}

/** Waits until the gateways serve the newest revision and know this key. */
export async function inStep(gateways: readonly TeamProcess[], key: string, endpoint: string): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const revisions = async (): Promise<readonly string[]> =>
    await Promise.all(
      gateways.map(async ({ url }) => {
        const text = await (await fetch(`${url}/metrics`, { headers })).text();
        return /^metamcp_config_revision(?:{.*})? (\d+)$/m.exec(text)?.[1] ?? "";
      }),
    );
  await until(async () => new Set(await revisions()).size === 1, { what: "the same revision everywhere" });
  for (const gateway of gateways)
    await until(async () => (await request2026(gateway, endpoint, key, "server/discover")).status === 200, {
      what: "the key at every gateway",
    });
}

type Json = Record<string, unknown>;

export interface Answer2026 {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

/** One request of the stateless era. */
export async function request2026(
  { url }: Pick<TeamProcess, "url">,
  endpoint: string,
  key: string,
  method: string,
  params: Json = {},
  capabilities: Json = { elicitation: {} },
): Promise<Answer2026> {
  const whole = { ...params, _meta: envelope(capabilities) };
  const response = await fetch(`${url}/metamcp/${endpoint}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key, ...era2026Headers(method, whole) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: whole }),
  });
  const all = (await messages(response)) as { result?: Json; error?: Answer2026["error"] }[];
  const last = all.at(-1);
  return {
    status: response.status,
    headers: response.headers,
    ...(last?.result && { result: last.result }),
    ...(last?.error && { error: last.error }),
  };
}
