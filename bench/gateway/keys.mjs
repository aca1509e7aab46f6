// CPU per request with many keys and accounts, compared with one key. Both cases have the same sessions and
// layers.
import { randomUUID } from "node:crypto";
import { ask, Load } from "../overhead/http/load.mjs";
import { measure as inTurn, ratio } from "../overhead/http/rounds.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { median } from "../overhead/median.mjs";
import { endpointWith, GUARDED } from "./calls.mjs";
import { row } from "./row.mjs";
import { ENV } from "./serve.mjs";
import { load } from "./source.mjs";

const PARAMS = {
  name: "mcp_call",
  arguments: { server: "s0", tool: "echo", args: { message: "sixteen bytes ok" } },
};
const BATCH_SIZE = 1_000;

/**
 * Writes a store with many accounts and keys before the gateway starts. The API would be slow: each new
 * account is compared with all others.
 */
async function filledStore(accounts, keys) {
  const code = await load(
    "store/open-store.ts",
    "access/account.ts",
    "access/api-keys.ts",
    "engine/system-clock.ts",
    "kernel/log.ts",
  );
  const { openStore, createApiKey, ACCOUNT, systemClock: clock, silentLog: log } = code;
  const home = fresh("store");
  const url = `file:${home}/gateway.db`;
  const store = await openStore({ url, home, env: ENV, clock, log });
  const at = new Date().toISOString();
  const people = Array.from({ length: accounts }, (_, n) => {
    const value = { email: `person${n}@example.com`, role: "member", groups: [], disabled: false };
    return { kind: ACCOUNT, id: randomUUID(), value: { ...value, createdAt: at, updatedAt: at } };
  });
  for (let n = 0; n < accounts; n += BATCH_SIZE)
    await store.records.write(people.slice(n, n + BATCH_SIZE).map((put) => ({ put })));
  const created = [];
  for (const { id } of people.slice(0, keys))
    created.push((await createApiKey(store, { name: `of ${id}`, endpoints: "all", owner: id })).key);
  await store.close();
  return { store: url, keys: created };
}

/** Opens one session for each key. */
async function loadOf({ name, server, url }, keys) {
  const headers = [];
  for (const key of keys) headers.push(await server.openAt("e", { "x-api-key": key }));
  const { answer } = await ask(url, { id: 2, method: "tools/call", params: PARAMS }, headers[0]);
  if (!answer?.result || answer.result.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  const asks = headers.map((one) => ({ params: PARAMS, headers: one }));
  return { name, server, load: new Load(url, asks) };
}

export async function measure({ of }) {
  const keys = of(1_000, 20);
  const accounts = of(10_000, 40);
  const people = await filledStore(accounts, keys);
  const one = await endpointWith("one key", GUARDED);
  const all = await endpointWith("many keys", GUARDED, { store: people.store });
  const { "x-api-key": key } = await one.server.key();
  const loads = [await loadOf(one, Array(keys).fill(key)), await loadOf(all, people.keys)];
  const figures = await inTurn(loads, { requests: of(4_000, 64), inFlight: 32, rounds: of(11, 1) });
  for (const { server } of [one, all]) await server.stop();
  const note = [...figures.values()]
    .map(({ cpu }) => `${median(cpu).toFixed(0)} µs`)
    .reverse()
    .join(" and ");
  const what = `CPU per call: ${keys.toLocaleString("en")} keys of ${accounts.toLocaleString("en")} accounts ÷ one key`;
  return [row(what, ratio(figures, "many keys", "one key"), { limit: 1.1, note })];
}
