/** The log: to stderr or a file, never to stdout. Plain lines at a terminal, else JSON. */
import { createWriteStream, fstatSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Log, LogFields, LogLevel } from "../kernel/log.ts";
import { shown, shownJson } from "./print.ts";
import { wrap } from "./wrap.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Limit of unread log output in memory. */
const BACKLOG_BYTES = 1024 * 1024;

export interface LogOptions {
  readonly level: LogLevel;
  readonly file: string | undefined;
  /** Where the log goes without a file. Default: stderr of this process. */
  readonly stderr?: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** How often the log checks whether its file was renamed or removed. */
const CHECK_MS = 1_000;

export interface ProcessLog extends Log {
  /** Opens the log file again, by its name. */
  reopen(): void;
}

export function createLog({ level: configuredLevel, file, stderr = process.stderr }: LogOptions): ProcessLog {
  let output: Writable = stderr;
  // A closed stderr must not end the process.
  output.on("error", () => {});
  /** Set while the log goes to a file that is open. */
  let inode: number | undefined;
  let checkedAt = 0;
  const reopen = (): void => {
    if (file === undefined) return;
    if (output !== stderr) output.end();
    inode = undefined;
    const opened = createWriteStream(file, { flags: "a", mode: 0o600 });
    output = opened;
    opened.once("open", (fd: number) => {
      if (output === opened) inode = fstatSync(fd).ino;
    });
    opened.on("error", (error) => {
      if (output !== opened) return;
      output = stderr;
      inode = undefined;
      write("error", `cannot write the log file, so the log goes to stderr: ${error.message}`);
    });
  };
  /** Tools that rotate logs rename the file and expect a new one. */
  const follow = (): void => {
    const now = Date.now();
    if (inode === undefined || file === undefined || Math.abs(now - checkedAt) < CHECK_MS) return;
    checkedAt = now;
    try {
      if (statSync(file, { throwIfNoEntry: false })?.ino !== inode) reopen();
    } catch {
      // The folder cannot be read any more. The open file is still good.
    }
  };
  const minLevel = LEVELS.indexOf(configuredLevel);
  let dropped = 0;
  const write = (level: LogLevel, message: string, fields?: LogFields): void => {
    const plain = output === stderr && stderr.isTTY;
    const line = plain ? asText(level, message, stderr.columns) : asJson(level, message, fields);
    output.write(`${line}\n`);
  };
  reopen();
  const logAt = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < minLevel) return;
    follow();
    if (output.writableLength > BACKLOG_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) write("warn", `${dropped} lines of this log were dropped because nobody read it`);
    dropped = 0;
    write(level, message, fields);
  };
  return { reopen, debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/**
 * Messages contain texts of servers. Further lines are indented, so that none looks like a line of the log.
 */
export function asText(level: LogLevel, message: string, columns: number | undefined): string {
  const text = shown(message).replaceAll("\n", "\n  ");
  return wrap(`metamcp ${level}: ${text}`, columns, 2);
}

/**
 * JSON leaves some characters in strings as they are that a terminal acts on, and log files are read at
 * terminals.
 */
function asJson(level: LogLevel, message: string, fields: LogFields | undefined): string {
  return shownJson(
    JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, (_key, value: unknown) =>
      value instanceof Error ? value.message : value,
    ),
  );
}
