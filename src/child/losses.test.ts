import { expect, test } from "vitest";
import { originOf, specOf } from "../../test/support/scripted-server.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { type Claim, claimOf } from "./claim.ts";
import { Health } from "./health.ts";
import { ChildFailure } from "./link.ts";
import { type Losable, Losses } from "./losses.ts";

const crash = new ChildFailure("stdio-exit", "it crashed");
const offline = new ChildFailure("offline", "connection refused");

function setUp() {
  const clock = new ManualClock();
  const logged: string[] = [];
  const keep = (text: string) => void logged.push(text);
  const health = new Health(() => ({ threshold: 2, cooldownMs: 1_000 }));
  const log = { ...silentLog, info: keep, warn: keep };
  const losses = new Losses(health, {
    clock,
    log,
    howToLogIn: () => ({ url: "u", advice: "Log in first." }),
  });
  const claim = (repeat: Claim["repeat"] = "safe"): Claim => {
    const origin = originOf("s");
    const made = claimOf({ origin, uplink: origin.uplink, repeat }, health.admit("x", clock.now()));
    return Object.assign(made, { tries: 1, id: 1 });
  };
  const connection = (state: Losable["state"], ...claims: Claim[]): Losable => ({
    label: "x",
    spec: specOf("x"),
    state,
    claims: () => new Set(claims),
  });
  return { losses, health, logged, claim, connection };
}

test("a connection lost while idle is logged and not counted; the next connect is a restart, once", () => {
  const { losses, health, logged, connection } = setUp();
  expect(losses.takeRestart()).toBe(false);
  losses.connectionLost(connection("closed"), { failure: crash, counted: false });
  expect(logged).toEqual(["x: exited while idle: it crashed"]);
  expect([health.lastFailure, health.open]).toEqual([undefined, false]);
  expect([losses.takeRestart(), losses.takeRestart()]).toEqual([true, false]);
});

test("a connection lost under calls retries those that may be repeated", () => {
  const { losses, logged, claim, connection } = setUp();
  const [safe, unsafe] = [claim(), claim("unsafe")];
  losses.connectionLost(connection("failed", safe, unsafe), { failure: crash, counted: false });
  expect([safe.retry, unsafe.retry]).toEqual([true, false]);
  expect(logged).toEqual(["x: lost: it crashed"]);
});

test("a crash and the failed connect after it count as one failure", () => {
  const { losses, health, claim, connection } = setUp();
  const call = claim();
  losses.connectionLost(connection("failed", call), { failure: crash, counted: false });
  const respawn = connection("failed", call);
  losses.opening(respawn);
  losses.connectFailed(respawn, offline, call.admitted);
  expect(health.open).toBe(false);
  losses.connectFailed(connection("failed"), offline, undefined);
  expect([health.open, health.lastFailure]).toEqual([true, "connection refused"]);
});

test("a connect that MetaMCP ended, and one that requires login, are not counted", () => {
  const { losses, health, logged, connection } = setUp();
  const login = new ChildFailure("auth", "401");
  for (let n = 0; n < 3; n++) {
    losses.connectFailed(connection("closed"), offline, undefined);
    losses.connectFailed(connection("failed"), new Error("aborted"), undefined);
    losses.connectFailed(connection("failed"), login, undefined);
  }
  expect([health.open, health.lastFailure]).toEqual([false, "auth_required: 401. Log in first."]);
  expect(new Set(logged)).toEqual(new Set(["x: not authorised: 401. Log in first."]));
});

test("requests lost on one open link count as one crash", () => {
  const { losses, health, claim, connection } = setUp();
  const [first, second] = [claim("unsafe"), claim("unsafe")];
  const link = connection("active", first, second);
  losses.requestLost(link, first, offline);
  expect([first.retry, second.linkCrash]).toEqual([false, first.crash]);
  losses.requestLost(link, second, offline);
  expect(second.crash).toBe(first.crash);
  for (const { crash, admitted } of [first, second]) health.settleCrash(crash, "unknown", admitted, 1);
  expect(health.open).toBe(false);
  health.failed(health.current, new ChildFailure("offline", "once more"), 2);
  expect(health.open).toBe(true);
});
