/**
 * The admin API of a gateway without children, with a real store and real changes. A test sets the tools of
 * servers.
 */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Access, openAccess } from "../../src/access/access.ts";
import { adminPath, createAdmin } from "../../src/admin/admin.ts";
import { Grants } from "../../src/authorization/grants.ts";
import { recordIds } from "../../src/authorization/record-id.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { type Compiled, compile, namespacesWith } from "../../src/gateway/compile.ts";
import { contextAt } from "../../src/gateway/context.fixture.ts";
import type { ConnectionStatus, GatewayControl, PinControl } from "../../src/gateway/control.ts";
import type { InspectorControl } from "../../src/gateway/inspector-control.ts";
import { listingOfTools } from "../../src/gateway/listing.fixture.ts";
import { loadValidator } from "../../src/gateway/schema-check.ts";
import { readObjects, writesBetween } from "../../src/gateway/stored.ts";
import type { TryControl } from "../../src/gateway/try-control.ts";
import { endpointRows, namespaceRows } from "../../src/gateway/view/tool-rows.ts";
import { tableRows } from "../../src/gateway/view/tool-table.ts";
import { Events } from "../../src/kernel/events.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { revealed } from "../../src/kernel/secret.ts";
import { inTurns } from "../../src/kernel/steps.ts";
import { BUILT_IN } from "../../src/middleware/built-in.ts";
import { LayerRegistry } from "../../src/middleware/registry.ts";
import { ALONE } from "../../src/observe/live/replica-view.ts";
import { Observer } from "../../src/observe/observer.ts";
import { ApprovalQueue } from "../../src/serving/approvals/approval-queue.ts";
import { openLogins } from "../../src/serving/logins/server-logins.ts";
import { Provisioning } from "../../src/serving/provision/provisioning.ts";
import { ProvisionRequests } from "../../src/serving/provision/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { adminFetch } from "./admin-answers.ts";
import { atEnd } from "./shared.ts";
import { sqliteDatabase } from "./test-databases.ts";

/** There are no children to try. */
const INSPECTOR: InspectorControl = {
  url: "http://gateway.test",
  clients: () => Promise.resolve([]),
  inspect: () => Promise.resolve({ content: [] }),
  selfTest: () => Promise.resolve({ ok: false, url: "http://gateway.test", steps: [] }),
};
const PINS: PinControl = {
  enforced: false,
  review: () => ({ changes: [], removed: [] }),
  approve: () => Promise.resolve(),
  signs: () => Promise.resolve([]),
  approveSigns: () => Promise.resolve(),
};
const TRIES: TryControl = {
  page: () => undefined,
  preview: () => undefined,
  explain: () => undefined,
  open: () => undefined,
  answer: () => "unknown",
};

export const ADMIN_TOKEN = "an-administrators-token-for-tests-0123";

/** The tools of servers, by server name. */
export type Tools = Readonly<Record<string, readonly string[]>>;

export async function testControl(store: Store, tools: Tools = {}): Promise<GatewayControl> {
  const vault = {
    seal: (text: string) => ({ sealed: store.sealer.seal(text) }),
    open: ({ sealed }: { sealed: string }) => store.sealer.open(sealed),
  };
  const entryContext = { env: {}, folder: "/", path: "/mcp.json" };
  const listingOf = (uuid: string) => {
    const name = compiled.objects.server.get(uuid)?.name ?? "";
    const names = Object.hasOwn(tools, name) ? tools[name] : undefined;
    return names && listingOfTools(name, names);
  };
  const context = (at: number) =>
    contextAt(at, { vault, listed: (uuid) => listingOf(uuid)?.tools.map(({ name }) => name) });
  const first = await store.load();
  let revision = first.revision;
  let compiled: Compiled = compile(readObjects(first.objects), { entryContext, vault }).compiled;
  const statusOf = (uuid: string): ConnectionStatus => ({
    state: compiled.servers.get(uuid)?.disabled ? "disabled" : "idle",
    connected: false,
    toolCount: listingOf(uuid)?.tools.length ?? 0,
  });
  let last: Promise<unknown> = Promise.resolve();

  return {
    get revision() {
      return revision;
    },
    get compiled() {
      return compiled;
    },
    change(actor, make, { dryRun = false, summary = "" } = {}) {
      const run = async () => {
        const before = compiled.objects;
        const outcome = await inTurns(make(before, context(revision + 1)));
        const { changes } = outcome;
        if (!dryRun && changes.length > 0) {
          const writes = writesBetween(before, outcome.objects);
          const made = await store.commit({ base: revision, ...writes, who: actor, summary });
          revision = made.n;
          const { objects } = await store.load();
          compiled = compile(
            readObjects(objects, outcome.objects),
            { entryContext, vault },
            compiled,
          ).compiled;
        }
        const servers = changes.flatMap(({ kind, uuid, op }) =>
          kind === "server" && op !== "delete" ? [uuid] : [],
        );
        const connections = new Map(servers.map((uuid) => [uuid, statusOf(uuid)]));
        const namespaces = servers.flatMap((uuid) => namespacesWith(compiled, uuid));
        return { revision, changes, connections, namespaces, outcome };
      };
      const done = last.then(run);
      last = done.catch(() => {});
      return done;
    },
    judge: async () => [],
    revisions: (page) => store.revisions(page),
    async revisionAt(n) {
      const past = await store.revision(n);
      return past && { ...past, objects: readObjects(past.objects, compiled.objects) };
    },
    statusOf,
    connect: async (uuid) => ({ ...statusOf(uuid), state: "active", connected: true }),
    toolsOf({ kind, uuid }) {
      const sources = { compiled, listingOf };
      const namespace = compiled.namespaces.get(uuid);
      const endpoint = compiled.endpoints.get(uuid);
      if (kind === "namespace") return namespace ? namespaceRows(namespace, sources) : [];
      if (kind === "endpoint") return endpoint ? endpointRows(endpoint, sources) : [];
      return (listingOf(uuid)?.tools ?? []).map(({ name }) => ({
        server: uuid,
        tool: name,
        name,
        enabled: true,
      }));
    },
    historyOf: () => [],
    definitionsOf: () => ({}),
    toolTable: () => tableRows(compiled, { listingOf, changesOf: () => [] }),
    logsOf: () => [{ at: 0, text: "a line on stderr" }],
  };
}

/** The secrets of a server in plain text, as its process or URL gets them. */
export function secretsOf({ compiled }: GatewayControl, name: string): Readonly<Record<string, string>> {
  const spec = [...compiled.servers.values()].find(({ object }) => object.name === name)?.spec;
  if (!spec) throw new Error(`There is no usable server ${name}.`);
  return revealed(spec.kind === "stdio" ? spec.env : spec.headers);
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or the text. */
  readonly body: Record<string, unknown> & { readonly [key: string]: never };
}

export type Ask = (method: string, path: string, body?: unknown, headers?: object) => Promise<ApiResponse>;

export interface TestAdmin {
  readonly url: string;
  readonly store: Store;
  readonly control: GatewayControl;
  readonly access: Access;
  /** Sends a request as an administrator. A string body is sent unchanged. */
  readonly ask: Ask;
}

/** The admin API on a free port, with its own embedded store. */
export async function testAdmin(
  tools: Tools = {},
  { adminToken = ADMIN_TOKEN, trustProxy = [] }: { adminToken?: string | null; trustProxy?: string[] } = {},
): Promise<TestAdmin> {
  const store = await sqliteDatabase().open();
  const control = await testControl(store, tools);
  const access = await openAccess({
    store,
    clock: systemClock,
    log: silentLog,
    newId: randomUUID,
    adminToken: adminToken ?? undefined,
    publicUrl: undefined,
    https: false,
  });
  const events = new Events();
  const observer = new Observer({
    events,
    audit: store.audit,
    sums: store.sums,
    names: {
      endpoint: () => undefined,
      namespace: () => undefined,
      server: () => undefined,
      transport: () => undefined,
      hasTool: () => false,
    },
    clock: systemClock,
    log: silentLog,
    options: { days: 30 },
    gauges: {
      connections: () => ({ states: {}, breakers: {}, waiting: 0 }),
      sessions: () => new Map(),
      revision: () => control.revision,
      storeUp: () => true,
    },
  });
  atEnd(() => observer.close());
  const provisioning = new Provisioning({
    home: "/nowhere",
    entryContext: { env: {}, folder: "/", path: "/mcp.json" },
    clock: systemClock,
    log: silentLog,
    engine: {} as never,
    control: () => control,
    requests: new ProvisionRequests(store),
  });
  const approvals = new ApprovalQueue({
    store,
    shared: false,
    events,
    clock: systemClock,
    log: silentLog,
    newId: randomUUID,
    endpointName: () => undefined,
  });
  await approvals.load();
  const logins = await openLogins({
    store,
    access,
    events,
    log: silentLog,
    compiled: () => control.compiled,
    base: () => "http://localhost",
    addressOf: () => "127.0.0.1",
    sso: undefined,
  });
  const admin = createAdmin({
    notices: { deliveries: async () => [], try: async () => undefined },
    control,
    logins: logins.control,
    approvals,
    inspector: INSPECTOR,
    tries: TRIES,
    pins: PINS,
    replicas: ALONE,
    layers: new LayerRegistry(BUILT_IN, await loadValidator()),
    provisioning,
    access,
    events,
    observed: observer,
    sessions: { list: () => [], counts: () => new Map(), end: () => false },
    health: { exposed: false, store: () => store.state },
    grants: new Grants(store, { idOf: recordIds(store.sealer), onRevoked: () => {} }),
    publicUrl: () => "http://localhost",
    log: silentLog,
    trustProxy,
  });
  const server = createServer((request, response) => {
    const path = adminPath(new URL(request.url ?? "/", "http://x").pathname);
    if (path === undefined) response.writeHead(404).end();
    else void admin(path, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, store, control, access, ask: adminClient(url) };
}

export function adminClient(url: string): Ask {
  return async (method, path, body, headers = {}) => {
    const answer = await adminFetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
}
