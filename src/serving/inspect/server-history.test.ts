/** Since when a server has its state. */
import { expect, test } from "vitest";
import type { ConnectionChanged, EngineEvent } from "../../kernel/events.ts";
import { ServerHistory } from "./server-history.ts";

test("a server is idle since its connection was closed, not since it was opened", () => {
  let emit: (event: EngineEvent) => void = () => {};
  const history = new ServerHistory({
    on(listener) {
      emit = listener;
      return () => {};
    },
  });
  const changed = (state: ConnectionChanged["state"], at: number) =>
    emit({ type: "connection", at, server: "s", state });
  changed("connected", 1_000);
  expect(history.since("s", "idle")).toBe(new Date(1_000).toISOString());
  changed("closed", 5_000);
  expect(history.since("s", "idle")).toBe(new Date(5_000).toISOString());
  expect(history.since("s", "active")).toBe(new Date(1_000).toISOString());
});
