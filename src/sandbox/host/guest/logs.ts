/**
 * The `console` of the guest. Sent into the sandbox as source text, so it must not refer to anything outside
 * itself.
 */
import type { Bridge } from "./bridge.ts";
import type { Values } from "./values.ts";

export function logs(bridge: Bridge, { inspect }: Values): object {
  const { isArray } = Array;
  const counts = new Map<string, number>();
  const startTimes = new Map<string, number>();
  let indent = "";
  // Above the limit of all logs together.
  const LONGEST_LINE = 1 << 20;
  const write =
    (level: string) =>
    (...args: unknown[]): void => {
      const line = args.map((one) => (typeof one === "string" ? one : inspect(one))).join(" ");
      bridge("log", level, (indent + line).slice(0, LONGEST_LINE), "");
    };
  const log = write("log");
  return {
    log,
    info: write("info"),
    debug: write("debug"),
    warn: write("warn"),
    error: write("error"),
    trace: write("debug"),
    dir: (value: unknown) => log(inspect(value)),
    table: (value: unknown) => {
      const rows = isArray(value) ? value : [value];
      for (const row of rows.slice(0, 100)) log(inspect(row));
    },
    assert: (fact: unknown, ...args: unknown[]) => {
      if (!fact) write("error")("Assertion failed", ...args);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      log(`${label}: ${counts.get(label)}`);
    },
    time: (label = "default") => void startTimes.set(label, Date.now()),
    timeEnd: (label = "default") => log(`${label}: ${Date.now() - (startTimes.get(label) ?? Date.now())} ms`),
    group: (...args: unknown[]) => {
      if (args.length > 0) log(...args);
      indent += "  ";
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
  };
}
