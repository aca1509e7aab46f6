/** The failure of a run that exceeded a limit, with a message that says what to do. */
import type { Failure, LimitName } from "./executor.ts";

const MESSAGES: Readonly<Record<LimitName, string>> = {
  wallMs: "Time limit of the run: do less in one run, or give it more time",
  cpuMs: "CPU limit: computing without an await",
  memoryBytes: "Memory limit: keep less at once",
  stackBytes: "Stack limit: the recursion is too deep",
  calls: "Limit of tool calls in one run: do the rest in another run",
  callsInFlight: "Limit of tool calls at the same time: wait for some before others",
  argsBytes: "Size limit of the arguments of one call",
  resultBytes: "Size limit of the result of one call",
  valueBytes: "Size limit of the returned value: return only what is needed",
  logBytes: "Size limit of the logs",
  codeBytes: "Size limit of the code",
};

export function limitFailure(limit: LimitName, value: number): Failure {
  const unit = limit.endsWith("Ms") ? " ms" : limit.endsWith("Bytes") ? " bytes" : "";
  return { code: "sandbox_limit", message: `${MESSAGES[limit]} (${limit}: ${value}${unit}).`, limit };
}

export function isLimit(name: string): name is LimitName {
  return Object.hasOwn(MESSAGES, name);
}
