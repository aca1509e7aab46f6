import { expect, test } from "vitest";
import { originOf } from "../../test/support/scripted-server.ts";
import { closed } from "./breaker.ts";
import { claimOf } from "./claim.ts";
import { ConnectionUse } from "./connection-use.ts";

function setUp() {
  const said: string[] = [];
  const use = new ConnectionUse({ onBusy: () => said.push("busy"), onIdle: () => said.push("idle") });
  const origin = originOf("s");
  const claim = (lists = false) => claimOf({ origin, uplink: origin.uplink, repeat: "safe" }, closed, lists);
  return { use, said, claim };
}

test("a connection is busy from its first user to its last, whether claim or lease", () => {
  const { use, said, claim } = setUp();
  const call = claim();
  use.add(call);
  const lease = use.lease();
  expect([use.users, said]).toEqual([2, ["busy"]]);
  use.remove(call);
  expect(said).toEqual(["busy"]);
  lease.release();
  expect([use.users, said]).toEqual([0, ["busy", "idle"]]);
});

test("a claim removed twice and a lease released twice leave once", () => {
  const { use, claim } = setUp();
  const [call, other] = [claim(), claim()];
  use.add(call);
  use.add(other);
  use.remove(call);
  use.remove(call);
  const lease = use.lease();
  lease.release();
  lease.release();
  expect([use.users, use.calls, [...use.claims]]).toEqual([1, 1, [other]]);
});

test("a claim that only lists does not count as a call", () => {
  const { use, claim } = setUp();
  const list = claim(true);
  use.add(list);
  expect([use.users, use.calls]).toEqual([1, 0]);
  use.remove(list);
  expect([use.users, use.calls]).toEqual([0, 0]);
});

test("a claim that comes from another connection starts afresh", () => {
  const { use, claim } = setUp();
  const call = Object.assign(claim(), { id: 7, retry: true });
  use.add(call);
  expect([call.id, call.retry]).toEqual([undefined, false]);
});
