/** `metamcp doctor`: checks the config, starts each server, times it, and says what is wrong and how to mend it. */
import type { Config, ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { VERSION } from "../kernel/version.ts";
import type { Engine } from "../main.ts";
import type { Command } from "./command.ts";
import { person, withEngine } from "./open.ts";
import { spin } from "./spinner.ts";
import { show } from "./table.ts";
import { targetsOf } from "./target.ts";

interface Finding {
  readonly server: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly tools?: number;
  readonly problem?: string;
  readonly advice?: string | undefined;
}

interface Report {
  readonly metamcp: string;
  readonly node: string;
  readonly config: string;
  readonly exists: boolean;
  readonly warnings: readonly string[];
  readonly servers: readonly Finding[];
  readonly disabled: readonly string[];
}

export const command: Command = {
  name: "doctor",
  usage: "doctor [SERVER …]",
  summary: "Check the config, start each server, say what is wrong.",
  takes: [0, Number.POSITIVE_INFINITY],
  async run(given) {
    return await withEngine(given, async (engine, config) => {
      const only = new Set(given.positionals);
      const wanted = (name: string): boolean => only.size === 0 || only.has(name);
      const { path, exists, warnings, broken, disabled } = config;
      const report: Report = {
        metamcp: VERSION,
        node: process.version,
        config: path,
        exists,
        warnings: [...given.warnings, ...warnings],
        servers: [
          ...(await checkAll(engine, config, wanted)),
          ...[...broken]
            .filter(([name]) => wanted(name))
            .map(([name, reason]) => misconfigured(name, reason, path)),
          ...[...only].filter((name) => !engine.scope.server(name) && !disabled.has(name)).map(unknown),
        ],
        disabled: [...disabled].filter(wanted),
      };
      show(report, given.settings.json, () => forPeople(report));
      return exists && report.servers.every(({ ok }) => ok) ? 0 : 1;
    });
  },
};

function misconfigured(server: string, problem: string, path: string): Finding {
  return { server, ok: false, problem, advice: `Mend its entry in ${path}.` };
}

function unknown(server: string): Finding {
  const advice = '"metamcp list" shows those that are.';
  return { server, ok: false, problem: "no such server is configured", advice };
}

async function checkAll(
  engine: Engine,
  config: Config,
  wanted: (name: string) => boolean,
): Promise<readonly Finding[]> {
  const specs = [...config.servers.values()].filter(({ name }) => wanted(name));
  const targets = await targetsOf(config);
  const open = new Set(specs.map(({ name }) => name));
  const waiting = (): string => `waiting for ${[...open].slice(0, 3).join(", ")}${open.size > 3 ? " …" : ""}`;
  const spinner = spin(waiting());
  const findings = await Promise.all(
    specs.map(async (spec) => {
      const finding = await check(engine, spec, targets.get(spec.name) ?? "");
      open.delete(spec.name);
      spinner.text = waiting();
      return finding;
    }),
  );
  spinner.stop();
  return findings;
}

async function check({ scope }: Engine, spec: ServerSpec, target: string): Promise<Finding> {
  const server = spec.name;
  const since = performance.now();
  const ms = (): number => Math.round(performance.now() - since);
  try {
    (await scope.connect(server, person)).release();
    const tools = scope.catalog.isLive(server)
      ? scope.catalog.snapshot.listings.get(server)?.tools.length
      : undefined;
    if (tools !== undefined) return { server, ok: true, ms: ms(), tools };
    const advice = `See what it says: metamcp doctor ${server} --log-level debug`;
    return { server, ok: false, ms: ms(), problem: "it runs but does not list its tools", advice };
  } catch (error) {
    return { server, ok: false, ms: ms(), problem: problemOf(error), advice: adviceFor(error, spec, target) };
  }
}

/** The fact itself; what a model should do about it is of no use here. */
function problemOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

function adviceFor(error: unknown, spec: ServerSpec, target: string): string | undefined {
  const login = MetaMcpError.is(error) && error.code === "auth_required";
  if (spec.kind !== "stdio") {
    return login ? 'Check the credentials in its "headers".' : `Try it by hand: curl -i ${target}`;
  }
  // A program that could not be started cannot be started by hand either.
  const fault = ((error as Error).cause as Error | undefined)?.cause as NodeJS.ErrnoException | undefined;
  if (fault?.code === "ENOENT" || fault?.code === "EACCES") return undefined;
  const env = Object.keys(spec.env)
    .map((name) => `${name}=… `)
    .join("");
  return `Run it by hand to see more: (cd ${spec.cwd} && ${env}${target})`;
}

function forPeople({ metamcp, node, config, exists, warnings, servers, disabled }: Report): string {
  const width = Math.max(
    ...[...servers.map(({ server }) => server), ...disabled].map((name) => name.length),
    0,
  );
  const bad = servers.filter(({ ok }) => !ok).length;
  const lines = [
    `MetaMCP ${metamcp}, node ${node}, config ${config}`,
    ...(exists
      ? []
      : ['✗ There is no such file. Create it: { "mcpServers": { "name": { "command": "…" } } }']),
    ...warnings.map((warning) => `! ${warning}`),
    "",
    ...servers.map((finding) => line(finding, width)),
    ...disabled.map((name) => `- ${name.padEnd(width)}  disabled`),
  ];
  if (servers.length === 0) return [...lines, "No servers to check."].join("\n");
  const verdict = bad === 0 ? "All of them are well." : `${bad} of ${servers.length} need attention.`;
  return [...lines, "", verdict].join("\n");
}

function line({ server, ok, ms, tools, problem = "", advice }: Finding, width: number): string {
  if (ok) return `✓ ${server.padEnd(width)}  ${tools} ${tools === 1 ? "tool" : "tools"} in ${ms} ms`;
  const indent = " ".repeat(width + 4);
  const after = ms !== undefined && ms >= 1_000 ? ` (after ${Math.round(ms / 1_000)} s)` : "";
  const text = `${problem}${after}`.split("\n").join(`\n${indent}`);
  return `✗ ${server.padEnd(width)}  ${text}${advice ? `\n${indent}→ ${advice}` : ""}`;
}
