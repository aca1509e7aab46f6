/** Settings of V8 for a process that carries messages, and may end after a few thousand of them. Set before anything else runs. */
import { setFlagsFromString } from "node:v8";

export function tuneEngine(): void {
  // What passes through lies in buffers that V8 counts as if they were heap: with its own limit, every 20 MB of results
  // would have the whole heap marked, which costs more than carrying them.
  setFlagsFromString("--heap-growing-percent=400");
  // Half of what the first thousands of calls cost was compiling functions that were not hot for long. Twice the usual patience
  // takes a quarter off them, and nothing is slower when warm (`npm run bench`, cold 32). Later versions have a quicker
  // compiler in between, and no such flag.
  if (process.versions.v8.startsWith("11.")) setFlagsFromString("--interrupt-budget=264000");
}
