import { expect, test } from "vitest";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { executorContract } from "./executor.contract.ts";
import { tryRun } from "./try-run.ts";
import { createWasmExecutor } from "./wasm.ts";

const parts = { clock: systemClock, log: silentLog };
executorContract("wasm", () => createWasmExecutor({ ...parts, bubblewrap: false }));
executorContract("wasm in bubblewrap, if available", () => createWasmExecutor(parts));

test("formats that need data of languages are refused clearly", async () => {
  const executor = createWasmExecutor({ ...parts, bubblewrap: false });
  for (const code of [
    "new Intl.NumberFormat('de')",
    "(5).toLocaleString('en-US', { style: 'currency', currency: 'USD' })",
    "(5).toLocaleString('de')",
    "new Date(0).toLocaleDateString('en-US', { month: 'long' })",
  ])
    expect((await tryRun(executor, code)).error?.message).toContain("is not available in the sandbox");
  await executor.close();
});
