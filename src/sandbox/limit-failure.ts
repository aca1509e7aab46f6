/** What is said of a run that went beyond a limit. */
import type { Failure, Limit } from "./executor.ts";

const SPOKEN: Readonly<Record<Limit, string>> = {
  wallMs: "It ran longer than it may",
  cpuMs: "It computed for too long without waiting for anything",
  memoryBytes: "It used more memory than it may",
  stackBytes: "It called itself too deeply",
  calls: "It made more calls than it may",
  callsInFlight: "It had more calls in flight than it may",
  argsBytes: "The arguments of a call were too large",
  resultBytes: "The result of a call was too large",
  valueBytes: "Its value is too large: return only what is needed",
  logBytes: "It logged more than it may",
  codeBytes: "The code is too long",
};

export function limitFailure(limit: Limit, most: number): Failure {
  const unit = limit.endsWith("Ms") ? " ms" : limit.endsWith("Bytes") ? " bytes" : "";
  return { code: "sandbox_limit", message: `${SPOKEN[limit]} (${limit}: ${most}${unit}).`, limit };
}

export function isLimit(name: string): name is Limit {
  return Object.hasOwn(SPOKEN, name);
}
