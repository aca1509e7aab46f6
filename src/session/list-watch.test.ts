import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import type { ListStates } from "../surface/surface.ts";
import { Debounce } from "./debounce.ts";
import { ListWatch } from "./list-watch.ts";

const TOOLS = "notifications/tools/list_changed";
const RESOURCES = "notifications/resources/list_changed";
const tools = (version: string, complete = true): ListStates => ({ tools: { version, complete } });

describe("ListWatch", () => {
  test("reports once that a list differs from the one the client last saw", () => {
    const watch = new ListWatch();
    watch.listing("tools")("a");
    expect(watch.due(tools("a"))).toEqual([]);
    expect(watch.due(tools("b"))).toEqual([TOOLS]);
    expect(watch.due(tools("b"))).toEqual([]);
    watch.listing("tools")("b");
    expect(watch.due(tools("b"))).toEqual([]);
    expect(watch.due(tools("c"))).toEqual([TOOLS]);
  });

  test("reports nothing if the list is the one the client last saw", () => {
    const watch = new ListWatch();
    watch.listing("tools")("a");
    expect(watch.due(tools("a", false))).toEqual([]);
  });

  test("compares a list that the client never requested with its first complete version", () => {
    const watch = new ListWatch();
    expect(watch.due(tools("nothing yet", false))).toEqual([]);
    expect(watch.due(tools("half", false))).toEqual([]);
    expect(watch.due(tools("all"))).toEqual([]);
    expect(watch.due(tools("more"))).toEqual([TOOLS]);
    expect(watch.due(tools("less", false))).toEqual([TOOLS]);
  });

  test("reports nothing while the client waits for the answer to a request for that list", () => {
    const watch = new ListWatch();
    const first = watch.listing("tools");
    const second = watch.listing("tools");
    expect(watch.due(tools("a"))).toEqual([]);
    first("a");
    expect(watch.due(tools("b"))).toEqual([]);
    second();
    expect(watch.due(tools("b"))).toEqual([TOOLS]);
    expect(watch.used).toBe(true);
  });

  test("reports changed resources and templates with one notification", () => {
    const watch = new ListWatch();
    watch.listing("resources")("r1");
    watch.listing("templates")("t1");
    const now = {
      resources: { version: "r2", complete: true },
      templates: { version: "t2", complete: true },
    };
    expect(watch.due(now)).toEqual([RESOURCES]);
  });
});

/** The catalog changes, a client lists, or time passes. */
const event = fc.oneof(
  fc.record({ kind: fc.constant("change" as const), to: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ kind: fc.constant("list" as const), client: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 60, 149, 150, 400, 1_200) }),
);

test("after any sequence of changes each client knows the current list and was notified once per change", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.array(fc.boolean()), (events, obedient) => {
      const clock = new ManualClock();
      let catalog = 0;
      // Some clients list again when they are notified, others do not.
      const clients = [0, 1, 2].map((n) => ({
        watch: new ListWatch(),
        relists: obedient[n] ?? true,
        believes: 0,
        told: 0,
        changes: 0,
      }));
      const list = (client: (typeof clients)[number]): void => {
        client.watch.listing("tools")(String(catalog));
        client.believes = catalog;
      };
      clients.forEach(list);
      const debounce = new Debounce(clock, { quietMs: 150, mostMs: 1_000 }, () => {
        for (const client of clients) {
          if (client.believes !== catalog) client.changes++;
          for (const _ of client.watch.due(tools(String(catalog)))) {
            client.told++;
            client.believes = catalog;
            if (client.relists) list(client);
          }
        }
      });
      for (const one of events) {
        if (one.kind === "wait") clock.advance(one.ms);
        else if (one.kind === "list") list(clients[one.client] as (typeof clients)[number]);
        else {
          catalog = one.to;
          debounce.touch();
        }
      }
      clock.advance(10_000);
      for (const { believes, told, changes } of clients) {
        expect(believes).toBe(catalog);
        expect(told).toBe(changes);
      }
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 500 },
  );
});
