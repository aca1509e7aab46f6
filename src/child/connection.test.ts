import { expect, test } from "vitest";
import { TEST_ORIGIN } from "../../test/support/catalog.ts";
import { COMMON_STDIO } from "../../test/support/spec.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { Audience } from "./audience.ts";
import { Connection } from "./connection.ts";
import type { Connector, Link } from "./link.ts";
import { Pool } from "./pool.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const clock = new ManualClock();

/** A child that never sends anything. Its link opens when the test calls `arrive`. */
function silentChild() {
  const open: Link[] = [];
  let arrive: () => void = () => {};
  const connector: Connector = {
    open: () =>
      new Promise((resolve) => {
        arrive = () => {
          const link: Link = {
            peer: "silent",
            send: () => {},
            agreed: () => {},
            lastWords: () => undefined,
            close: async () => void open.splice(open.indexOf(link), 1),
          };
          open.push(link);
          resolve(link);
        };
      }),
  };
  return { open, connector, arrive: () => arrive() };
}

function connect(pool: Pool, connector: Connector): Connection {
  return new Connection({
    spec: {
      ...COMMON_STDIO,
      name: "x",
      kind: "stdio",
      command: "x",
      args: [],
      env: {},
      inheritEnv: [],
      cwd: "/",
    },
    origin: TEST_ORIGIN,
    connector: () => Promise.resolve(connector),
    era: () => undefined,
    audience: new Audience(() => undefined),
    pool,
    clock,
    log: silentLog,
    onHandshake: () => Promise.resolve(),
    onLost: () => {},
    onMoved: () => {},
    onListChanged: () => {},
    roots: undefined,
    onRootsWanted: () => {},
  });
}

const options = {
  poolSize: 1,
  minPoolSize: 0,
  resPoolSize: 0,
  resPoolTimeout: 0,
  idleTimeoutMs: 1_000,
  failureThreshold: 3,
  cooldownMs: 1_000,
};

test("a connection that is ended at the moment it gets its pool slot frees the slot", async () => {
  const pool = new Pool(options, clock, silentLog);
  const before = await pool.acquire(1_000);
  const connection = connect(pool, silentChild().connector);
  await turn();
  expect(pool.stats).toMatchObject({ slots: 1, waiting: 1 });
  before.free();
  await connection.end("no caller is waiting for it");
  await turn();
  expect(pool.stats).toMatchObject({ slots: 0, waiting: 0 });
});

test("a connection that is ended at the moment its link opens closes the link and frees its slot", async () => {
  const pool = new Pool(options, clock, silentLog);
  const child = silentChild();
  const connection = connect(pool, child.connector);
  await turn();
  child.arrive();
  expect(child.open).toHaveLength(1);
  await connection.end("it is replaced");
  await turn();
  expect(child.open).toHaveLength(0);
  expect(pool.stats.slots).toBe(0);
});
