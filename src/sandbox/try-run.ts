/** Runs code in tests, with default limits, principal, servers and a `call` that echoes its arguments. */

import { CallSignal } from "../kernel/signal.ts";
import { type CodeRun, type Executor, LIMITS, type Limits, type OutCall, type Outcome } from "./executor.ts";

export interface RunOptions {
  readonly limits?: Partial<Limits>;
  readonly call?: (call: OutCall) => Promise<string>;
  readonly signal?: CallSignal;
  readonly servers?: readonly string[];
  readonly progress?: CodeRun["progress"];
  readonly principal?: string;
}

const echo = ({ server, tool, args }: OutCall): Promise<string> =>
  Promise.resolve(
    JSON.stringify({ content: [], structuredContent: { server, tool, args: JSON.parse(args) as unknown } }),
  );

export function tryRun(executor: Executor, code: string, options: RunOptions = {}): Promise<Outcome> {
  const {
    limits,
    call = echo,
    signal = new CallSignal(),
    servers = ["a", "b-c"],
    progress,
    principal = "one",
  } = options;
  const all = { ...LIMITS, ...limits };
  const tools = { a: ["echo", "get-sum"], "b-c": ["x"] };
  return executor.run({
    code,
    servers,
    tools,
    limits: all,
    principal,
    signal,
    call,
    ...(progress && { progress }),
  });
}

export const valueIn = (outcome: Outcome): unknown => {
  if (outcome.error) throw new Error(outcome.error.message);
  return outcome.value === undefined ? undefined : JSON.parse(outcome.value);
};
