/** Real child processes for tests of the stdio connector. They are killed at the end of their test. */
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ChildUser } from "../../src/child/child-user.ts";
import type { ChildFailure, Link, LinkEvents } from "../../src/child/link.ts";
import { createStdioConnector, type StdioConnector } from "../../src/child/stdio/connector.ts";
import { MARK } from "../../src/child/stdio/mark.ts";
import type { StdioSpec } from "../../src/config/spec.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { Log } from "../../src/kernel/log.ts";
import { asRaw, fromRaw, toRaw } from "../../src/kernel/raw.ts";
import type { Message } from "../../src/rpc/message.ts";
import { kill, processesWithEnv } from "./processes.ts";
import { COMMON_STDIO } from "./spec.ts";
import { until } from "./until.ts";

export const ODD_CHILD = fileURLToPath(new URL("../fixture/stdio-odd.mjs", import.meta.url));

let count = 0;

export interface StdioHarness {
  readonly connector: StdioConnector;
  readonly spec: StdioSpec;
  readonly messages: Message[];
  readonly closings: ChildFailure[];
  /** Requests that were reported as not sent. */
  readonly failed: { readonly id: number; readonly failure: ChildFailure }[];
  /** Log lines in the form "level message". */
  readonly logged: string[];
  open(signal?: AbortSignal): Promise<Link>;
  /** Opens a link and waits for the `ready` notification of the child. */
  ready(): Promise<Link>;
  ask(link: Link, method: string, params: unknown): Promise<unknown>;
  /** The living processes of this test. */
  pids(): number[];
}

export interface StdioHarnessOptions extends Partial<StdioSpec> {
  readonly maxMessageBytes?: number;
  readonly clock?: Clock;
  readonly log?: Log;
  /** METAMCP_HOME, for confined servers. */
  readonly home?: string;
  readonly user?: ChildUser;
  /** `onTestFinished` of the test context, for concurrent tests. */
  readonly onTestFinished?: (clean: () => void) => void;
}

/** A spec and connector for the odd fixture with these traits, or for another command. */
export function stdioHarness(traits: readonly string[], more: StdioHarnessOptions = {}): StdioHarness {
  const name = `odd-${process.pid}-${++count}`;
  const {
    maxMessageBytes = 1 << 20,
    clock = systemClock,
    home,
    user,
    onTestFinished: finish = onTestFinished,
    ...changes
  } = more;
  const logged: string[] = [];
  const at = (level: string) => (message: string) => void logged.push(`${level} ${message}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const connector = createStdioConnector({
    log: more.log ?? log,
    clock,
    maxMessageBytes,
    user,
    ...(home !== undefined && { home }),
  });
  const messages: Message[] = [];
  const closings: ChildFailure[] = [];
  const failed: { id: number; failure: ChildFailure }[] = [];
  const events: LinkEvents = {
    onMessage: (message) => void messages.push(message),
    onFailed: (failedId, failure) => void failed.push({ id: failedId, failure }),
    onClosed: (failure) => void closings.push(failure),
  };
  const spec: StdioSpec = {
    kind: "stdio",
    name,
    command: process.execPath,
    args: [ODD_CHILD, ...traits],
    env: {},
    inheritEnv: [],
    cwd: process.cwd(),
    ...COMMON_STDIO,
    ...changes,
  };
  const pids = (): number[] => processesWithEnv(MARK, `-${name}`);
  finish(() => pids().forEach(kill));
  const open = (signal = new AbortController().signal): Promise<Link> => connector.open(spec, events, signal);
  let id = 0;
  return {
    connector,
    spec,
    messages,
    closings,
    failed,
    logged,
    open,
    pids,
    async ready() {
      const link = await open();
      const isReady = (message: Message): boolean =>
        message.kind === "notification" && message.method === "ready";
      const before = closings.length;
      await until(() => messages.some(isReady) || closings.length > before, { what: "ready" });
      if (closings.length > before) throw closings.at(-1);
      return link;
    },
    async ask(link, method, params) {
      const requestId = asRaw(Buffer.from(String(++id)));
      link.send({ kind: "request", id: requestId, method, params: toRaw(params) });
      return await until(
        () => {
          for (const one of messages) {
            if (one.kind === "result" && one.id.equals(requestId)) return { answer: fromRaw(one.result) };
            if (one.kind === "error" && one.id?.equals(requestId)) return { answer: fromRaw(one.error) };
          }
          return undefined;
        },
        { what: `an answer to ${method}` },
      ).then(({ answer }) => answer);
    },
  };
}
