/** `metamcp doctor`: checks the config, starts each server, times it, and says what is wrong and how to mend it. */
import type { ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Engine } from "../main.ts";
import type { Command } from "./command.ts";
import { targetOf } from "./list.ts";
import { person, withEngine } from "./open.ts";
import { spin } from "./spinner.ts";
import { show } from "./table.ts";

interface Finding {
  readonly server: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly tools?: number;
  readonly problem?: string;
  readonly advice?: string;
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
      const specs = [...config.servers.values()].filter((spec) => wanted(spec.name));
      const spinner = spin(`starting ${specs.length} servers …`);
      const started = await Promise.all(specs.map((spec) => check(engine, spec)));
      spinner.stop();
      const findings: Finding[] = [
        ...started,
        ...[...config.broken]
          .filter(([name]) => wanted(name))
          .map(([server, problem]) => ({
            server,
            ok: false,
            problem,
            advice: `Mend its entry in ${config.path}.`,
          })),
        ...[...only]
          .filter((name) => !config.servers.has(name) && !config.broken.has(name))
          .map((server) => ({
            server,
            ok: false,
            problem: "no such server is configured",
            advice: "metamcp list shows those that are.",
          })),
      ];
      const { path, exists, warnings } = config;
      const answer = { config: path, exists, node: process.version, warnings, servers: findings };
      show(answer, given.settings.json, () => forPeople(answer));
      return exists && findings.every(({ ok }) => ok) ? 0 : 1;
    });
  },
};

async function check({ scope }: Engine, spec: ServerSpec): Promise<Finding> {
  const server = spec.name;
  const since = performance.now();
  const ms = (): number => Math.round(performance.now() - since);
  try {
    (await scope.connect(server, person)).release();
    const tools = scope.catalog.snapshot.listings.get(server)?.tools.length;
    if (tools === undefined)
      return { server, ok: false, ms: ms(), problem: "it runs but does not list its tools" };
    return { server, ok: true, ms: ms(), tools };
  } catch (error) {
    return { server, ok: false, ms: ms(), problem: (error as Error).message, advice: adviceFor(error, spec) };
  }
}

function adviceFor(error: unknown, spec: ServerSpec): string {
  if (MetaMcpError.is(error) && error.code === "auth_required") return `Log in: metamcp auth ${spec.name}`;
  if (spec.kind !== "stdio") return `Can you reach ${targetOf(spec)} from here?`;
  return `Run it by hand to see more: (cd ${spec.cwd} && ${targetOf(spec)})`;
}

function forPeople(answer: {
  config: string;
  exists: boolean;
  node: string;
  warnings: readonly string[];
  servers: readonly Finding[];
}): string {
  const { config, exists, node, warnings, servers } = answer;
  const bad = servers.filter(({ ok }) => !ok).length;
  return [
    `node ${node}, config ${config}${exists ? "" : ': THERE IS NO SUCH FILE; create it with { "mcpServers": { … } }'}`,
    ...warnings.map((warning) => `! ${warning}`),
    ...servers.map(({ server, ok, ms, tools, problem, advice }) =>
      ok
        ? `✓ ${server}: ${tools} tools in ${ms} ms`
        : `✗ ${server}: ${problem}${ms === undefined ? "" : ` (after ${ms} ms)`}${advice ? `\n    → ${advice}` : ""}`,
    ),
    bad === 0
      ? `All ${servers.length} servers are well.`
      : `${bad} of ${servers.length} servers need attention.`,
  ].join("\n");
}
