// What a request costs where there are many keys and accounts, beside one key. Both have as many sessions and layers.
import { ask, Load } from "../overhead/http/load.mjs";
import { measure as inTurn, ratio } from "../overhead/http/rounds.mjs";
import { median } from "../overhead/median.mjs";
import { endpointWith, GUARDED } from "./calls.mjs";
import { row } from "./row.mjs";

const PARAMS = {
  name: "mcp_call",
  arguments: { server: "s0", tool: "echo", args: { message: "sixteen bytes ok" } },
};
const AT_ONCE = 16;

/** `count` times, some at once. */
async function many(count, make) {
  const made = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const at = next++;
      made[at] = await make(at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}

async function loadOf(name, { server, url }, sessions, keyOf) {
  const headers = await many(sessions, async (at) => await server.openAt("e", await keyOf(at)));
  const { answer } = await ask(url, { id: 2, method: "tools/call", params: PARAMS }, headers[0]);
  if (!answer?.result || answer.result.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  return {
    name,
    server,
    load: new Load(
      url,
      headers.map((one) => ({ params: PARAMS, headers: one })),
    ),
  };
}

export async function measure({ of }) {
  const keys = of(1_000, 20);
  const accounts = of(10_000, 40);
  const one = await endpointWith("one key", GUARDED);
  const all = await endpointWith("many keys", GUARDED);
  const people = await many(accounts, (at) =>
    all.server.api("POST", "/users", { email: `person${at}@example.com`, role: "member" }),
  );
  const { headers } = one;
  const { "x-api-key": key } = headers;
  const loads = [
    await loadOf("one key", one, keys, () => ({ "x-api-key": key })),
    await loadOf("many keys", all, keys, (at) => all.server.key({ owner: people[at].email })),
  ];
  const figures = await inTurn(loads, { requests: of(4_000, 64), inFlight: 32, rounds: of(11, 1) });
  for (const { server } of [one, all]) await server.stop();
  const note = [...figures.values()]
    .map(({ cpu }) => `${median(cpu).toFixed(0)} µs`)
    .reverse()
    .join(" and ");
  const what = `CPU per call: ${keys.toLocaleString("en")} keys of ${accounts.toLocaleString("en")} accounts ÷ one key`;
  return [row(what, ratio(figures, "many keys", "one key"), { limit: 1.1, note })];
}
