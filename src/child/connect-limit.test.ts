import { expect, test } from "vitest";
import { specOf } from "../../test/support/scripted-server.ts";
import { ManualClock } from "../kernel/clock.ts";
import { limitConnect, type StartPhase } from "./connect-limit.ts";
import { mayInstall } from "./download.ts";

function setUp(first: StartPhase) {
  const clock = new ManualClock();
  const state = { phase: first };
  const late: [StartPhase, number][] = [];
  const timer = limitConnect({
    clock,
    spec: specOf("x", { connectTimeoutMs: 30_000 }),
    phase: () => state.phase,
    onLate: (...what) => void late.push(what),
  });
  return { clock, state, late, timer };
}

test("a server that runs has connectTimeoutMs", () => {
  const { clock, late } = setUp("started");
  clock.advance(29_999);
  expect(late).toEqual([]);
  clock.advance(1);
  expect(late).toEqual([["started", 30_000]]);
});

test("an install has five minutes, and connectTimeoutMs counts from its end", () => {
  const { clock, state, late } = setUp("waiting");
  clock.advance(3_600_000);
  state.phase = "installing";
  clock.advance(299_000);
  state.phase = "started";
  clock.advance(30_000);
  expect(late).toEqual([]);
  clock.advance(1_000);
  expect(late).toEqual([["started", 30_000]]);
});

test("an install that takes too long is late, and a cancelled limit never is", () => {
  const slow = setUp("installing");
  slow.clock.advance(300_000);
  expect(slow.late).toEqual([["installing", 300_000]]);
  const done = setUp("installing");
  done.timer.cancel();
  done.clock.advance(900_000);
  expect(done.late).toEqual([]);
});

test.each<[boolean, string, string[]]>([
  [true, "npx", ["-y", "@playwright/mcp@latest"]],
  [true, "/usr/local/bin/uvx", ["mcp-server-git"]],
  [true, "C:\\nodejs\\npx.cmd", ["-y", "x"]],
  [true, "cmd", ["/c", "npx", "-y", "x"]],
  [true, "npm", ["exec", "--", "x"]],
  [true, "pnpm", ["dlx", "x"]],
  [true, "uv", ["tool", "run", "x"]],
  [true, "docker", ["run", "-i", "image"]],
  [false, "npx", ["-y", "./server"]],
  [false, "npx", ["/srv/server.mjs"]],
  [false, "cmd", ["/c", "npx", "./server"]],
  [false, "npx", []],
  [false, "npm", ["run", "start"]],
  [false, "node", ["npx"]],
])("may install (%s): %s %j", (expected, command, args) => {
  expect(mayInstall({ ...specOf("x"), command, args } as never)).toBe(expected);
});
