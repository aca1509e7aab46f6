/** A Postgres server for one test, with its own folder and port. A test can stop, freeze and restart it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import pg from "pg";
import { childrenOf } from "./processes.ts";
import { atEnd } from "./shared.ts";
import { until } from "./until.ts";

export interface OwnPostgres {
  readonly url: string;
  /** Resolves when the server answers. */
  start(): Promise<void>;
  /** Ends all connections too. */
  stop(): Promise<void>;
  /** The server does not answer, but keeps its connections open. */
  freeze(): void;
  thaw(): void;
}

const folder = binaries();
const owner = ownerOf();
/** The reason if no Postgres can be started. */
export const noOwnPostgres: string | undefined =
  folder === undefined
    ? "initdb and postgres were not found"
    : owner === undefined
      ? "it does not run as root, and there is no user postgres"
      : undefined;

function binaries(): string | undefined {
  const installed = "/usr/lib/postgresql";
  const versions = existsSync(installed)
    ? readdirSync(installed).map((one) => join(installed, one, "bin"))
    : [];
  return [...versions, ...(process.env["PATH"] ?? "").split(delimiter)].find((one) =>
    ["initdb", "postgres"].every((program) => existsSync(join(one, program))),
  );
}

/** The user that runs Postgres. Undefined if root has no user postgres. */
function ownerOf(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {};
  try {
    const [uid, gid] = ["-u", "-g"].map((flag) =>
      Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })),
    );
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}

/** Call inside a test. The server ends with the test. */
export async function ownPostgres(): Promise<OwnPostgres> {
  if (folder === undefined || owner === undefined) throw new Error(noOwnPostgres);
  const data = mkdtempSync(join(tmpdir(), "metamcp-postgres-"));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(data, owner.uid, owner.gid);
  const as = { ...owner, cwd: data, stdio: "ignore" } as const;
  execFileSync(join(folder, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"], as);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const flags = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", "", "-F"];
    server = spawn(join(folder as string, "postgres"), flags, as);
    await until(() => answers(url), { what: "a Postgres of our own" });
  }

  async function stop(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    // A frozen process handles signals only after SIGCONT.
    server.kill("SIGCONT");
    server.kill("SIGINT");
    await exited;
  }

  atEnd(async () => {
    signal(server, "SIGCONT");
    await stop();
    rmSync(data, { recursive: true, force: true });
  });
  await start();
  return { url, start, stop, freeze: () => signal(server, "SIGSTOP"), thaw: () => signal(server, "SIGCONT") };
}

/** Sends a signal to the server and the processes of its connections. */
function signal(server: ChildProcess | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (server?.pid === undefined) return;
  for (const pid of [server.pid, ...childrenOf(server.pid)]) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended meanwhile.
    }
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
