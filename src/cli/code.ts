/** Where code runs, as the settings have it. */
import type { Settings } from "../config/flags.ts";
import type { ExecutorChoice } from "../sandbox/choose.ts";

export function codeOf(settings: Settings): ExecutorChoice | false {
  const { noCode, runtimeProfile: profile, runtimeBackend: backend, wasmEnabled } = settings;
  return noCode ? false : { profile, backend, wasmEnabled };
}
