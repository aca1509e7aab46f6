/**
 * The mark in a child's environment: which gateway started it, and as which child. Inherited by all that the child
 * starts, it finds what left the process group. Parses and prints; signals nobody.
 */
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { type ProcessIdentity, readProcess } from "./processes.ts";

export const MARK = "METAMCP_CHILD";

/** One process that starts children. */
export interface GatewayId extends ProcessIdentity {
  /** Process ids mean something only within one pid namespace: a container's gateway looks dead from outside. */
  readonly space: string;
}

/** For what cannot be told. `starter` does not read it: nobody is judged dead by such a mark. */
const UNKNOWN = "-";

function ownSpace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

export function ownGatewayId(): GatewayId {
  return { space: ownSpace(), pid: process.pid, start: readProcess(process.pid)?.start ?? UNKNOWN };
}

/** Makes the marks of one connector. Two connectors in one process differ by the random part. */
export class Marker {
  readonly #gateway: string;
  #count = 0;

  constructor(gateway: GatewayId = ownGatewayId()) {
    const { space, pid, start } = gateway;
    this.#gateway = `${space}.${pid}.${start}.${randomBytes(6).toString("hex")}`;
  }

  /** Unlike any other, so that two processes of one server are told apart. */
  next(server: string): string {
    this.#count += 1;
    return `${this.#gateway}/${this.#count}-${server.replace(/[^\w.-]/g, "_").slice(0, 64)}`;
  }
}

/** Outermost gateway first: whoever ends a nested gateway finds what that one started, too. */
export function nest(outer: string | undefined, mark: string): string {
  return outer ? `${outer},${mark}` : mark;
}

export function carries(marks: string | undefined, mark: string): boolean {
  return marks?.split(",").includes(mark) ?? false;
}

/** The gateway that started a process itself: the innermost of its marks. */
export function starter(marks: string): GatewayId | undefined {
  const found = /(?:^|,)(\d+)\.(\d+)\.(\d+)\.[0-9a-f]+\/[^,]*$/.exec(marks);
  if (!found) return undefined;
  const [, space = "", pid = "", start = ""] = found;
  return { space, pid: Number(pid), start };
}
