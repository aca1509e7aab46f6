/** Real child processes for tests of the stdio connector; each is ended with its test, and none may be left. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { ChildFailure, Link, LinkEvents } from "../../src/child/link.ts";
import { createStdioConnector, type StdioConnector } from "../../src/child/stdio/connector.ts";
import { MARK } from "../../src/child/stdio/mark.ts";
import type { StdioSpec } from "../../src/config/spec.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { Log } from "../../src/kernel/log.ts";
import { asRaw, fromRaw, toRaw } from "../../src/kernel/raw.ts";
import type { Message } from "../../src/rpc/message.ts";
import { systemClock } from "../../src/system-clock.ts";
import { carrying, kill } from "./processes.ts";
import { COMMON } from "./spec.ts";
import { until } from "./until.ts";

export const ODD = fileURLToPath(new URL("../fixture/stdio-odd.mjs", import.meta.url));

let count = 0;

export interface Bench {
  readonly connector: StdioConnector;
  readonly spec: StdioSpec;
  readonly messages: Message[];
  readonly closings: ChildFailure[];
  /** As "level message". */
  readonly logged: string[];
  open(signal?: AbortSignal): Promise<Link>;
  /** Opened, and all that the child starts is set up. */
  ready(): Promise<Link>;
  ask(link: Link, method: string, params: unknown): Promise<unknown>;
  /** All living processes of this test. */
  pids(): number[];
}

export interface BenchOptions extends Partial<StdioSpec> {
  readonly maxMessageBytes?: number;
  readonly clock?: Clock;
  /** The test's own, where tests run at the same time. */
  readonly onTestFinished?: (clean: () => void) => void;
}

/** A server of the odd fixture with these traits, or of another command. */
export function bench(traits: readonly string[], more: BenchOptions = {}): Bench {
  const name = `odd-${process.pid}-${++count}`;
  const {
    maxMessageBytes = 1 << 20,
    clock = systemClock,
    onTestFinished: finish = onTestFinished,
    ...changes
  } = more;
  const logged: string[] = [];
  const at = (level: string) => (message: string) => void logged.push(`${level} ${message}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const connector = createStdioConnector({ log, clock, maxMessageBytes });
  const messages: Message[] = [];
  const closings: ChildFailure[] = [];
  const events: LinkEvents = {
    onMessage: (message) => void messages.push(message),
    onFailed: () => expect.unreachable(),
    onClosed: (failure) => void closings.push(failure),
  };
  const spec: StdioSpec = {
    kind: "stdio",
    name,
    command: process.execPath,
    args: [ODD, ...traits],
    env: {},
    inheritEnv: [],
    cwd: process.cwd(),
    instances: 1,
    ...COMMON,
    ...changes,
  };
  const pids = (): number[] => carrying(MARK, `-${name}`);
  finish(() => pids().forEach(kill));
  const open = (signal = new AbortController().signal): Promise<Link> => connector.open(spec, events, signal);
  let id = 0;
  return {
    connector,
    spec,
    messages,
    closings,
    logged,
    open,
    pids,
    async ready() {
      const link = await open();
      const isReady = (message: Message): boolean =>
        message.kind === "notification" && message.method === "ready";
      await until(() => messages.some(isReady), { what: "ready" });
      return link;
    },
    async ask(link, method, params) {
      const own = asRaw(Buffer.from(String(++id)));
      link.send({ kind: "request", id: own, method, params: toRaw(params) });
      return await until(
        () => {
          for (const one of messages) {
            if (one.kind === "result" && one.id.equals(own)) return { answer: fromRaw(one.result) };
            if (one.kind === "error" && one.id?.equals(own)) return { answer: fromRaw(one.error) };
          }
          return undefined;
        },
        { what: `an answer to ${method}` },
      ).then(({ answer }) => answer);
    },
  };
}
