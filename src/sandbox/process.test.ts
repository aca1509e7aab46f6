import { expect, test } from "vitest";
import { gone } from "../../test/support/processes.ts";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { LazyExecutor } from "./choose.ts";
import { executorContract } from "./executor.contract.ts";
import { createProcessExecutor } from "./process.ts";
import { tryRun, valueIn } from "./try-run.ts";

test("the dev profile runs code in a plain process, reports it as unsafe, and limits time, calls and sizes", async () => {
  const executor = new LazyExecutor({ profile: "dev" }, { clock: systemClock, log: silentLog });
  const run = (code: string, limits = {}) => tryRun(executor, code, { limits });
  const outcome = await run(
    "const x: number = (await tools.a.echo({ n: 1 })).args.n;\nconsole.log({ x });\n[x, typeof process]",
  );
  expect(outcome).toMatchObject({
    value: '[1,"object"]',
    unsafe: true,
    backend: "process",
    logs: [{ text: "{x: 1}" }],
  });
  expect(outcome.enforced).not.toContain("memoryBytes");
  expect(valueIn(await run("if (false) return 1\n'late'"))).toBe("late");
  expect((await run("\nnull.x")).error).toMatchObject({ code: "execution_failed", line: 2 });
  expect((await run("for (;;);", { cpuMs: 200, wallMs: 1_000 })).error?.code).toBe("sandbox_limit");
  expect((await run("process.exit(3)")).error?.code).toBe("sandbox_terminated");
  await executor.close();
});

test("a process that does not exit after its run is killed and does not block other runs", async () => {
  const executor = createProcessExecutor({ clock: systemClock, log: silentLog });
  const stay =
    "process.stdin.removeAllListeners(); process.exit = () => {}; process.on('SIGTERM', () => {}); process.pid";
  const pids = await Promise.all(
    Array.from({ length: 20 }, async () => Number(valueIn(await tryRun(executor, stay)))),
  );
  expect(new Set(pids).size).toBe(20);
  await gone(pids);
  await executor.close();
});

executorContract(
  "process",
  () => new LazyExecutor({ profile: "dev" }, { clock: systemClock, log: silentLog }),
);
