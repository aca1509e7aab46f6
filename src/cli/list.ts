/** `metamcp list`: the configured servers. Starts none of them. */
import type { ServerSpec } from "../config/spec.ts";
import type { Command } from "./command.ts";
import { withEngine } from "./open.ts";
import { show, table } from "./table.ts";

export const command: Command = {
  name: "list",
  usage: "list",
  summary: "Show the configured servers; nothing is started.",
  takes: [0, 0],
  async run(given) {
    return await withEngine(given, async ({ scope }, config) => {
      await scope.catalog.loadCached();
      const servers = [
        ...[...config.servers.values()].map((spec) => ({
          name: spec.name,
          kind: spec.kind,
          runs: targetOf(spec),
          tools: scope.catalog.snapshot.listings.get(spec.name)?.tools.length,
          problem: undefined as string | undefined,
        })),
        ...[...config.broken].map(([name, problem]) => ({
          name,
          kind: "?",
          runs: "",
          tools: undefined,
          problem,
        })),
        ...[...config.disabled].map((name) => ({
          name,
          kind: "off",
          runs: "",
          tools: undefined,
          problem: "disabled",
        })),
      ];
      show({ config: config.path, exists: config.exists, servers }, given.settings.json, () =>
        servers.length === 0
          ? `No servers in ${config.path}${config.exists ? "" : " (there is no such file yet)"}.`
          : table(
              ["SERVER", "KIND", "TOOLS", "RUNS"],
              servers.map(({ name, kind, tools, runs, problem }) => [
                name,
                kind,
                tools?.toString() ?? "?",
                problem ? `! ${problem}` : runs,
              ]),
            ),
      );
      return 0;
    });
  },
};

/** Without what may hold secrets: env, headers, and the query of a URL. */
export function targetOf(spec: ServerSpec): string {
  if (spec.kind === "stdio") return [spec.command, ...spec.args].join(" ");
  const { origin, pathname } = new URL(spec.url);
  return `${origin}${pathname}`;
}
