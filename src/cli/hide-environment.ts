/**
 * Hides the environment and the passwords on the command line of this process from other processes. Linux
 * shows both, as they were at the start, in /proc. This overwrites them there; `process.env` and
 * `process.argv` keep their values. Without /proc/self/mem nothing happens. It does not protect the memory of
 * the process.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";

/**
 * Other tools look for these, or the loader and libc keep pointers to them. Also names that begin with LC_,
 * LD_, GLIBC_ or MALLOC_.
 */
const SHOWN = ["PATH", "HOME", "LANG", "TERM", "USER", "LOGNAME", "SHELL", "TZ", "PWD", "METAMCP_CHILD"];

export function hideEnvironment(): void {
  if (process.platform !== "linux") return;
  let memory: number | undefined;
  try {
    const blocks = readBlocks();
    memory = openSync("/proc/self/mem", "r+");
    hidePasswords(memory, blocks.args, readFileSync("/proc/self/cmdline"));
    hideVariables(memory, blocks.env, readFileSync("/proc/self/environ"));
  } catch {
    // The system does not allow it, as in some containers.
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
}

/**
 * Keeps processes of the same user from opening the debugger, and secrets out of core dumps. Children inherit
 * the latter.
 */
export function refuseInspection(): void {
  if (process.platform === "win32") return;
  // Without a listener Node opens its debugger at this signal, and whoever connects to that can run code in
  // this process.
  process.on("SIGUSR1", () => {});
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {
    // Not Linux, or not allowed.
  }
}

/**
 * The addresses of the arguments and of the environment in memory; fields 48 and 50 of `man proc_pid_stat`.
 */
function readBlocks(): { readonly args: number; readonly env: number } {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { args: Number(fields[45]), env: Number(fields[47]) };
}

function hideVariables(memory: number, start: number, block: Buffer): void {
  for (const { text, at } of entries(block)) {
    const name = Buffer.from(text.slice(0, text.indexOf("=")), "latin1").toString();
    if (isShown(name)) continue;
    const value = process.env[name];
    // Setting it again moves the variable to memory that /proc does not show.
    delete process.env[name];
    if (value !== undefined) process.env[name] = value;
    writeSync(memory, Buffer.alloc(text.length), 0, text.length, start + at);
  }
}

function isShown(name: string): boolean {
  return SHOWN.includes(name) || /^(?:LC|LD|GLIBC|MALLOC)_/.test(name);
}

/** Hides the password in arguments like `postgres://user:password@host`. */
function hidePasswords(memory: number, start: number, block: Buffer): void {
  for (const { text, at } of entries(block))
    for (const { 0: password, index } of text.matchAll(/(?<=:\/\/[^/@:]*:).+(?=@)/g))
      writeSync(memory, Buffer.alloc(password.length, "*"), 0, password.length, start + at + index);
}

/** The texts in a block of memory, each ended by NUL, with their offsets. */
function* entries(block: Buffer): Generator<{ readonly text: string; readonly at: number }> {
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf(0, at);
    const next = end < 0 ? block.length : end;
    // One byte per character, so that lengths and offsets are those of the memory.
    yield { text: block.toString("latin1", at, next), at };
    at = next + 1;
  }
}
