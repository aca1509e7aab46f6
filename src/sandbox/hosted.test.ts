import { afterEach, expect, test } from "vitest";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { HostedExecutor } from "./hosted.ts";
import { tryRun, valueIn } from "./try-run.ts";

/** A host whose runs return the id of its process. */
const SCRIPT = `
  const send = (frame) => process.stdout.write(JSON.stringify(frame) + "\\n");
  process.stdin.on("end", () => process.exit());
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { type, id } = JSON.parse(line);
    if (type === "init") send({ type: "ready" });
    if (type === "exec") send({ type: "done", id, value: String(process.pid) });
  });`;

const open: HostedExecutor[] = [];
afterEach(() => Promise.all(open.splice(0).map((executor) => executor.close())));

/** The process ids of runs that start at the same moment, before any host exists. */
async function hostsOf(principals: readonly string[], maxHosts: number): Promise<readonly unknown[]> {
  const executor = new HostedExecutor({
    backend: { name: "test", unsafe: true, enforced: [] },
    clock: systemClock,
    log: silentLog,
    maxHosts,
    launch: () => ({ command: process.execPath, args: ["-e", SCRIPT] }),
  });
  open.push(executor);
  const outcomes = await Promise.all(principals.map((principal) => tryRun(executor, "1", { principal })));
  return outcomes.map(valueIn);
}

test("the first runs of two principals get different hosts if they start at the same moment", async () => {
  const [first, second] = await hostsOf(["one", "other"], 2);
  expect(first).not.toBe(second);
});

test("the first runs of one principal share a host if they start at the same moment", async () => {
  const [first, second, third] = await hostsOf(["one", "one", "one"], 2);
  expect([second, third]).toEqual([first, first]);
});

test("principals share a host if no other may be started", async () => {
  const [first, second] = await hostsOf(["one", "other"], 1);
  expect(first).toBe(second);
});
