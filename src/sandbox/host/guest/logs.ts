/** The console of the guest. Carried into the sandbox as text: it may refer to nothing outside itself. */
import type { Bridge } from "./guest.ts";
import type { Values } from "./values.ts";

export function logs(bridge: Bridge, { inspect }: Values): object {
  const { isArray } = Array;
  const counts = new Map<string, number>();
  const marks = new Map<string, number>();
  let indent = "";
  // More than all logs together may have.
  const LONGEST_LINE = 1 << 20;
  const say =
    (level: string) =>
    (...args: unknown[]): void => {
      const line = args.map((one) => (typeof one === "string" ? one : inspect(one))).join(" ");
      bridge("log", level, (indent + line).slice(0, LONGEST_LINE), "");
    };
  const log = say("log");
  return {
    log,
    info: say("info"),
    debug: say("debug"),
    warn: say("warn"),
    error: say("error"),
    trace: say("debug"),
    dir: (value: unknown) => log(inspect(value)),
    table: (value: unknown) => {
      const rows = isArray(value) ? value : [value];
      for (const row of rows.slice(0, 100)) log(inspect(row));
    },
    assert: (fact: unknown, ...args: unknown[]) => {
      if (!fact) say("error")("Assertion failed", ...args);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      log(`${label}: ${counts.get(label)}`);
    },
    time: (label = "default") => void marks.set(label, Date.now()),
    timeEnd: (label = "default") => log(`${label}: ${Date.now() - (marks.get(label) ?? Date.now())} ms`),
    group: (...args: unknown[]) => {
      if (args.length > 0) log(...args);
      indent += "  ";
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
  };
}
