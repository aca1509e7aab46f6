import fc from "fast-check";
import { expect, test } from "vitest";
import { listBy } from "../../../test/support/catalog.ts";
import { temp } from "../../../test/support/temp.ts";
import { ToolCache } from "../../catalog/cache.ts";
import { Catalog } from "../../catalog/catalog.ts";
import { createSearch } from "../../catalog/search/search.ts";
import { toolId } from "../../catalog/tool.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { contentHash } from "../content-hash.ts";
import { Cursors } from "../cursor.ts";
import { pageOf } from "./paging.ts";

const cursors = new Cursors({ secret: Buffer.alloc(32) });

/** A catalog of children with lists in memory. */
class Children {
  readonly catalog: Catalog;
  readonly #lists = new Map<string, readonly string[]>();

  constructor(home: string) {
    const cache = new ToolCache({ home, log: silentLog });
    this.catalog = new Catalog({ cache, search: createSearch(), clock: new ManualClock(), log: silentLog });
  }

  async set(server: string, names: readonly string[]): Promise<void> {
    this.#lists.set(server, names);
    this.configure();
    await this.refresh(server);
  }

  drop(server: string): void {
    this.#lists.delete(server);
    this.configure();
  }

  configure(): void {
    this.catalog.configure(
      new Map([...this.#lists.keys()].map((name) => [name, { identity: name, permits: () => true }])),
    );
  }

  /** The child lists the same tools again, possibly in another order. */
  async refresh(server: string, reversed = false): Promise<void> {
    const names = this.#lists.get(server);
    if (!names) return;
    const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
    await this.catalog.refresh(
      listBy(server),
      () => Promise.resolve(toRaw({ tools: reversed ? tools.reverse() : tools })),
      {},
    );
  }

  get tools() {
    const all = [...this.catalog.snapshot.listings.values()].flatMap(({ tools }) => tools);
    return all.toSorted((a, b) => (toolId(a) < toolId(b) ? -1 : 1));
  }

  ids(): string[] {
    return this.tools.map(toolId);
  }
}

const servers = fc.constantFrom("a", "b", "c");
const names = fc.uniqueArray(fc.constantFrom(..."abcdefghij"), { maxLength: 8 });
const event = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "nothing" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("refresh" as const), server: servers, reversed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set" as const), server: servers, names }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop" as const), server: servers }) },
);

test("while the catalog changes, paging returns each item once or ends with invalid params", async () => {
  const { home } = temp();
  await fc.assert(
    fc.asyncProperty(
      fc.array(names, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(event, { minLength: 30, maxLength: 30 }),
      async (lists, limit, events) => {
        const children = new Children(home);
        for (const [at, server] of ["a", "b", "c"].entries()) await children.set(server, lists[at] ?? []);
        const expected = children.ids();
        const initial = contentHash(children.catalog.snapshot);
        const seen: string[] = [];
        let cursor: string | undefined;
        for (const happens of events) {
          const binding = ["list", contentHash(children.catalog.snapshot)];
          let found: ReturnType<typeof pageOf>;
          try {
            found = pageOf(children.tools, toolId, { cursors, cursor, limit, binding });
          } catch (error) {
            expect(error).toBeInstanceOf(RpcError);
            expect((error as RpcError).code).toBe(INVALID_PARAMS);
            expect(contentHash(children.catalog.snapshot)).not.toBe(initial);
            return;
          }
          seen.push(...(found.items as typeof children.tools).map(toolId));
          cursor = found.nextCursor;
          if (cursor === undefined) break;
          if (happens.kind === "refresh") await children.refresh(happens.server, happens.reversed);
          else if (happens.kind === "set") await children.set(happens.server, happens.names);
          else if (happens.kind === "drop") children.drop(happens.server);
        }
        expect(seen).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});

test("contentHash depends only on the content, not on how it came about", async () => {
  const { home } = temp();
  const one = new Children(home);
  await one.set("a", ["x", "y"]);
  await one.set("b", ["z"]);
  const other = new Children(home);
  await other.set("b", ["z"]);
  await other.set("c", ["gone"]);
  await other.set("a", ["y", "x"]);
  expect(contentHash(other.catalog.snapshot)).not.toBe(contentHash(one.catalog.snapshot));
  other.drop("c");
  expect(contentHash(other.catalog.snapshot)).toBe(contentHash(one.catalog.snapshot));
});

test("a cursor is valid only for the same binding, even if the list is the same", () => {
  const items = ["a", "b", "c"];
  const page = (cursor: string | undefined, ...binding: string[]) =>
    pageOf(items, (item) => item, { cursors, cursor, limit: 1, binding });
  const { nextCursor } = page(undefined, "search", "query", "me");
  expect(page(nextCursor, "search", "query", "me").items).toEqual(["b"]);
  for (const other of [
    ["search", "other", "me"],
    ["search", "query", "you"],
    ["list", "query", "me"],
    ["search", "query"],
  ])
    expect(() => page(nextCursor, ...other)).toThrow(/cursor/);
});
