import { silentLog } from "../kernel/log.ts";
import { systemClock } from "../system-clock.ts";
import { executorContract } from "./executor.contract.ts";
import { createWasmExecutor } from "./wasm.ts";

const parts = { clock: systemClock, log: silentLog };
executorContract("wasm", () => createWasmExecutor({ ...parts, bubblewrap: false }));
executorContract("wasm in bubblewrap, if available", () => createWasmExecutor(parts));
