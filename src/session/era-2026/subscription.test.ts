import { expect, test } from "vitest";
import type { Uplink } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import type { ListName } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";

const KEY = "io.modelcontextprotocol/";
const _meta = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: {} };

/**
 * Opens a subscription on a surface with changing lists and resources. Resources with a `no:` URI do not
 * exist.
 */
function open(
  filter: unknown,
  capabilities: Record<string, unknown> = ALL,
  versions: Partial<Record<ListName, string>> = { tools: "1", prompts: "1", resources: "1", templates: "1" },
) {
  const heard: unknown[] = [];
  const ended: string[] = [];
  const subscribed = new Map<string, Uplink>();
  const loaded: string[] = [];
  const era2026 = new StatelessClients({
    endpoint: PERSONAL,
    clock: new ManualClock(),
    onEnded: (session) => void ended.push(session),
    surface: {
      capabilities,
      instructions: () => "",
      lists: () =>
        Object.fromEntries(
          Object.entries(versions).map(([list, version]) => [list, { version, complete: false }]),
        ),
      loadMissing: ({ session }) => void loaded.push(session),
      handle({ method, params, origin }) {
        const { uri } = fromRaw(params as Raw) as { uri: string };
        if (method !== "resources/subscribe" || uri.startsWith("no:")) throw RpcError.of(-32002, "none");
        subscribed.set(uri, origin.uplink);
        return Promise.resolve(EMPTY_OBJECT);
      },
    },
  });
  const params = toRaw({ _meta, notifications: filter });
  const served = era2026.serve(
    { kind: "request", id: toRaw("sub"), method: "subscriptions/listen", params },
    {
      principal: LOCAL_USER,
      send: (message) => {
        if (message.kind === "notification")
          heard.push([message.method, message.params && fromRaw(message.params)]);
        else if (message.kind === "error") heard.push(fromRaw(message.error));
        else if (message.kind === "result") heard.push(fromRaw(message.result));
      },
    },
  );
  const change = (...lists: ListName[]): void => {
    for (const list of lists) versions[list] = `${versions[list] ?? ""}+`;
    era2026.tellChanges();
  };
  return { era2026, served, heard, ended, subscribed, loaded, change };
}

const ALL = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const mark = { [`${KEY}subscriptionId`]: "sub" };
const acknowledged = (notifications: object) => [
  "notifications/subscriptions/acknowledged",
  { _meta: mark, notifications },
];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a subscription is acknowledged first, then reports each requested change once, with its id", async () => {
  const { heard, change } = open({
    toolsListChanged: true,
    resourcesListChanged: true,
    promptsListChanged: false,
  });
  change("tools");
  await turn();
  change();
  change("prompts");
  change("resources", "templates");
  expect(heard).toEqual([
    acknowledged({ toolsListChanged: true, resourcesListChanged: true }),
    ["notifications/tools/list_changed", { _meta: mark }],
    ["notifications/resources/list_changed", { _meta: mark }],
  ]);
});

test("the first version of a list is not reported as a change", async () => {
  const { heard, change } = open({ toolsListChanged: true }, ALL, {});
  await turn();
  change("tools");
  expect(heard).toHaveLength(1);
  change("tools");
  expect(heard).toHaveLength(2);
});

test("notifications that the surface does not offer are not acknowledged and not sent", async () => {
  const { heard, change, subscribed } = open(
    { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["a://b"] },
    { tools: {}, prompts: { listChanged: true }, resources: {} },
  );
  await turn();
  change("tools", "prompts");
  expect(heard).toEqual([
    acknowledged({ promptsListChanged: true }),
    ["notifications/prompts/list_changed", { _meta: mark }],
  ]);
  expect(subscribed.size).toBe(0);
});

test("only resources that could be subscribed to are acknowledged", async () => {
  const { heard, subscribed } = open({ resourceSubscriptions: ["a://b", "no://c", "a://b"] });
  const updated = toRaw({ uri: "a://b", _meta: { own: 1 } });
  await Promise.resolve();
  subscribed.get("a://b")?.notify("notifications/resources/updated", updated);
  await turn();
  subscribed.get("a://b")?.notify("notifications/message", toRaw({ level: "error" }));
  expect(heard).toEqual([
    acknowledged({ resourceSubscriptions: ["a://b"] }),
    ["notifications/resources/updated", { uri: "a://b", _meta: { own: 1, ...mark } }],
  ]);
  await expect(
    subscribed.get("a://b")?.request("roots/list", undefined, new AbortController().signal),
  ).rejects.toThrow("cannot be asked");
});

test("a subscription ends silently when the client leaves, and with a result when MetaMCP stops", async () => {
  const left = open({ toolsListChanged: true });
  await turn();
  left.served.cancel("gone");
  left.served.cancel("gone");
  left.change("tools");
  expect(left.heard).toHaveLength(1);
  expect(left.ended).toHaveLength(1);

  const stopped = open({ toolsListChanged: true });
  await turn();
  stopped.era2026.refuse();
  stopped.change("tools");
  expect(stopped.heard.slice(1)).toEqual([
    { resultType: "complete", _meta: { ...mark, [`${KEY}serverInfo`]: expect.anything() } },
  ]);
  expect(stopped.ended).toHaveLength(1);
});

test("after a config change the lists of new servers are loaded only for subscriptions to lists", async () => {
  const { era2026, loaded } = open({ toolsListChanged: true });
  era2026.loadMissingLists();
  expect(loaded).toHaveLength(1);
  const none = open({});
  none.era2026.loadMissingLists();
  expect(none.loaded).toEqual([]);
  await turn();
  expect(none.heard).toEqual([acknowledged({})]);
});

test.each([undefined, null, [], { resourceSubscriptions: "a://b" }, { resourceSubscriptions: [1] }])(
  "a filter of %j is refused",
  (filter) => {
    const { heard } = open(filter);
    expect(heard).toMatchObject([{ code: -32602 }]);
  },
);
