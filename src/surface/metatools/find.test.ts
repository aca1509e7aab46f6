import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { listBy } from "../../../test/support/catalog.ts";
import { temp } from "../../../test/support/temp.ts";
import { ToolCache } from "../../catalog/cache.ts";
import { Catalog } from "../../catalog/catalog.ts";
import { createSearch } from "../../catalog/search/search.ts";
import { DEFAULT_SETTINGS } from "../../catalog/search/settings.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { LOCAL } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { entries } from "../../rpc/slice.ts";
import { Cursors } from "../cursor.ts";
import type { ClientRequest } from "../surface.ts";
import { type FindScope, listNamespaces, listTools, searchTools } from "./find.ts";

const SERVERS = ["a", "b", "c", "d"] as const;
const WORDS = ["read", "write", "file", "mail", "list"] as const;

/** A catalog of servers with lists in memory, and a scope on it. */
class CatalogFixture {
  readonly catalog: Catalog;
  readonly scope: FindScope;
  readonly #lists = new Map<string, readonly object[]>();

  constructor(home: string, search = createSearch()) {
    const cache = new ToolCache({ home, log: silentLog });
    this.catalog = new Catalog({ cache, search, clock: new ManualClock(), log: silentLog });
    this.scope = {
      cursors: new Cursors({ secret: Buffer.alloc(32) }),
      view: (asker) => this.catalog.view(asker),
      servers: () => [],
      specs: () => new Map(),
      has: (name) => this.#lists.has(name),
      server: () => undefined,
      notice: () => undefined,
      permits: () => true,
      pins: {
        enforced: false,
        unapproved: () => [],
        unapprovedTexts: () => [],
        settled: () => Promise.resolve(),
      },
      usageOf: () => Promise.resolve([]),
      loader: { loadMissing: () => Promise.resolve([]), loadMissingOwn: () => Promise.resolve([]) },
    };
  }

  async set(server: string, names: readonly string[]): Promise<void> {
    this.#lists.set(
      server,
      names.map((name) => ({ name, description: `It can ${name.replaceAll("_", " ")}.`, inputSchema: {} })),
    );
    this.#configure();
    await this.refresh(server, false);
  }

  drop(server: string): void {
    this.#lists.delete(server);
    this.#configure();
  }

  /** The server lists the same tools again, possibly in another order. */
  async refresh(server: string, reversed: boolean): Promise<void> {
    const tools = this.#lists.get(server);
    if (!tools) return;
    const listed = toRaw({ tools: reversed ? tools.toReversed() : tools });
    await this.catalog.refresh(listBy(server), () => Promise.resolve(listed), {});
  }

  #configure(): void {
    const names = [...this.#lists.keys()];
    this.catalog.configure(new Map(names.map((name) => [name, { identity: name, permits: () => true }])));
  }
}

function requestOf(caller: string): ClientRequest {
  const uplink = { notify: () => {}, request: () => Promise.resolve(EMPTY_OBJECT) };
  const principal = { ...LOCAL.principal, id: caller };
  // Each request comes in another session, because a cursor is valid in all sessions of its principal.
  const origin = { ...LOCAL, principal, session: randomUUID(), capabilities: EMPTY_OBJECT, uplink };
  return { method: "tools/call", params: undefined, origin, signal: new CallSignal(), uplink };
}

const FINDERS = { search: searchTools, list: listTools, namespaces: listNamespaces };

interface FindCall {
  readonly finder: keyof typeof FINDERS;
  readonly args: object;
}

async function pageOf(
  { scope }: CatalogFixture,
  { finder, args }: FindCall,
  cursor: string | undefined,
  caller = "me",
) {
  const input = new Map(entries(toRaw({ ...args, cursor })));
  const answer = fromRaw(await FINDERS[finder](scope, input, requestOf(caller))) as {
    content: { text: string }[];
    structuredContent: {
      tools?: { id: string }[];
      namespaces?: string[];
      nextCursor?: string;
      truncated?: boolean;
    };
  };
  const { tools, namespaces = [], nextCursor, truncated } = answer.structuredContent;
  const text = answer.content.map((block) => block.text).join("\n");
  expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
  return { items: tools?.map(({ id }) => id) ?? namespaces, nextCursor, truncated, text };
}

/** Reads all pages. Returns their items and the last page. */
async function allPages(fixture: CatalogFixture, find: FindCall) {
  const items: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await pageOf(fixture, find, cursor);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === undefined) return { items, last: page };
    expect(page.truncated).toBeUndefined();
  }
}

const word = fc.constantFrom(...WORDS);
const toolNames = fc.uniqueArray(
  fc.tuple(word, word).map((two) => two.join("_")),
  { maxLength: 12 },
);
const server = fc.constantFrom(...SERVERS);
const question: fc.Arbitrary<FindCall> = fc.oneof(
  fc.record({ finder: fc.constant("search" as const), args: fc.record({ query: word }) }),
  fc.record({
    finder: fc.constant("list" as const),
    args: fc.record({ namespace: server }, { requiredKeys: [] }),
  }),
  fc.record({ finder: fc.constant("namespaces" as const), args: fc.constant({}) }),
);
const event = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "nothing" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("refresh" as const), server, reversed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set" as const), server, names: toolNames }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop" as const), server }) },
);

test("reading all pages returns each item once, or ends with invalid params if the content changed", {
  timeout: 120_000,
}, async () => {
  const { home } = temp();
  await fc.assert(
    fc.asyncProperty(
      fc.array(toolNames, { minLength: 4, maxLength: 4 }),
      question,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 7 }), event), { minLength: 50, maxLength: 50 }),
      async (lists, { finder, args }, events) => {
        const fixture = new CatalogFixture(home);
        for (const [at, name] of SERVERS.entries()) await fixture.set(name, lists[at] ?? []);
        const whole = await pageOf(fixture, { finder, args: { ...args, limit: 100 } }, undefined);
        expect(whole.nextCursor).toBeUndefined();
        const seen: string[] = [];
        let [cursor, changed]: [string | undefined, boolean] = [undefined, false];
        for (const [limit, happens] of events) {
          try {
            const page = await pageOf(fixture, { finder, args: { ...args, limit } }, cursor);
            seen.push(...page.items);
            cursor = page.nextCursor;
          } catch (error) {
            // A removed server is unknown.
            if (!(error instanceof RpcError)) expect(error).toMatchObject({ code: "server_not_found" });
            else expect(error.code).toBe(INVALID_PARAMS);
            expect(changed).toBe(true);
            return;
          }
          if (cursor === undefined) break;
          if (happens.kind === "refresh") await fixture.refresh(happens.server, happens.reversed);
          else if (happens.kind === "set") await fixture.set(happens.server, happens.names);
          else if (happens.kind === "drop") fixture.drop(happens.server);
          changed ||= happens.kind === "set" || happens.kind === "drop";
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(whole.items);
      },
    ),
    { numRuns: 150 },
  );
});

test("a cursor is valid only for the same client and the same query", async () => {
  const fixture = new CatalogFixture(temp().home);
  for (const name of SERVERS) await fixture.set(name, ["read_file", "read_mail", "list_mail"]);
  const questions: FindCall[] = [
    { finder: "search", args: { query: "read" } },
    { finder: "search", args: { query: "mail" } },
    { finder: "list", args: {} },
    { finder: "list", args: { namespace: "a" } },
    { finder: "list", args: { namespace: "b" } },
    { finder: "namespaces", args: {} },
  ];
  for (const find of questions) {
    const { nextCursor } = await pageOf(fixture, { ...find, args: { ...find.args, limit: 1 } }, undefined);
    expect((await pageOf(fixture, find, nextCursor)).items.length).toBeGreaterThan(0);
    await expect(pageOf(fixture, find, nextCursor, "you")).rejects.toMatchObject({ code: INVALID_PARAMS });
    for (const other of questions)
      if (other !== find)
        await expect(pageOf(fixture, other, nextCursor)).rejects.toMatchObject({ code: INVALID_PARAMS });
  }
});

test("a search returns all hits in pages, and the last page says if maxResults cut some off", async () => {
  const { home } = temp();
  const names = Array.from({ length: 230 }, (_, n) => `read_file_${n}`);
  const find: FindCall = { finder: "search", args: { query: "read a file", limit: 50 } };

  const fixture = new CatalogFixture(home);
  await fixture.set("a", names);
  const all = await allPages(fixture, find);
  expect(all.items).toHaveLength(230);
  expect(new Set(all.items).size).toBe(230);
  expect(all.last.truncated).toBeUndefined();

  for (const [maxResults, truncated] of [
    [1, true],
    [100, true],
    [229, true],
    [230, undefined],
  ] as const) {
    const bounded = new CatalogFixture(home, createSearch({ ...DEFAULT_SETTINGS, maxResults }));
    await bounded.set("a", names);
    const best = await allPages(bounded, find);
    expect(best.items).toEqual(all.items.slice(0, maxResults));
    expect(best.last.truncated).toBe(truncated);
    expect(best.last.text.includes(`at most ${maxResults}:`)).toBe(truncated === true);
  }
});
