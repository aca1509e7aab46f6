/**
 * The mark: an environment variable that says which gateway started a process, and for which child. Processes
 * that the child starts inherit it, so they are found even outside of the process group. Only formats and
 * parses marks.
 */
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { type ProcessIdentity, readProcess } from "./processes.ts";

export const MARK = "METAMCP_CHILD";

/** A process that starts children. */
export interface GatewayId extends ProcessIdentity {
  /**
   * The Linux pid namespace. Pids are unique only within it: a gateway in a container looks dead from
   * outside.
   */
  readonly space: string;
}

/**
 * Stands for an unknown part. `starter` does not accept it, so that no gateway counts as dead by such a mark.
 */
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

  /** A unique mark, so that two processes of one server can be distinguished. */
  next(server: string): string {
    this.#count += 1;
    return `${this.#gateway}/${this.#count}-${server.replace(/[^\w.-]/g, "_").slice(0, 64)}`;
  }
}

/**
 * Appends a mark to those of outer gateways. So an outer gateway also finds processes that a nested gateway
 * started.
 */
export function nest(outer: string | undefined, mark: string): string {
  return outer ? `${outer},${mark}` : mark;
}

export function carries(marks: string | undefined, mark: string): boolean {
  return marks?.split(",").includes(mark) ?? false;
}

/** The gateway that started the process: the last one of its marks. */
export function starter(marks: string): GatewayId | undefined {
  const found = /(?:^|,)(\d+)\.(\d+)\.(\d+)\.[0-9a-f]+\/[^,]*$/.exec(marks);
  if (!found) return undefined;
  const [, space = "", pid = "", start = ""] = found;
  return { space, pid: Number(pid), start };
}
