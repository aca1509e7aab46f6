/** `metamcp list`: the configured servers. Starts none of them. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Config } from "../config/spec.ts";
import { touchesOf } from "../config/touches.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command, ExitCode } from "./command.ts";
import { person } from "./person.ts";
import { show, TO_GET_SERVERS, table } from "./table.ts";
import { targetsOf } from "./target.ts";
import { withEngine } from "./with-engine.ts";

interface Listed {
  readonly name: string;
  readonly kind: string;
  /** Number of tools; undefined if not known yet. */
  readonly tools?: number | undefined;
  readonly skills?: number | undefined;
  readonly runs?: string | undefined;
  /** What a local server may touch. */
  readonly touches?: string;
  readonly problem?: string;
}

export const command: Command = {
  name: "list",
  usage: "list",
  summary: "Show the configured servers. Starts nothing.",
  takes: [0, 0],
  async run(given) {
    const list = async ({ scope }: Engine, config: Config): Promise<ExitCode> => {
      const view = scope.view(person);
      await view.loadCached();
      const servers = await listed(view, config);
      show({ config: config.path, exists: config.exists, servers }, given.settings.json, () =>
        forPeople(servers, config),
      );
      return 0;
    };
    return await withEngine(given, list, { starts: false });
  },
};

async function listed({ snapshot }: CatalogView, config: Config): Promise<readonly Listed[]> {
  const targets = await targetsOf(config);
  return [
    ...[...config.servers.values()].map((spec) => ({
      name: spec.name,
      kind: spec.kind === "stdio" && spec.skillFolders ? "skills" : spec.kind,
      tools: snapshot.listings.get(spec.name)?.tools.length,
      skills: snapshot.listings.get(spec.name)?.skills?.length || undefined,
      runs: targets.get(spec.name),
      ...(spec.kind === "stdio" && !spec.skillFolders && { touches: touchesOf(spec) }),
    })),
    ...[...config.broken].map(([name, problem]) => ({ name, kind: "broken", problem })),
    ...[...config.disabled].map((name) => ({ name, kind: "disabled" })),
  ];
}

function forPeople(servers: readonly Listed[], { path, exists }: Config): string {
  if (servers.length === 0) {
    return exists
      ? `No servers in ${path}. ${TO_GET_SERVERS}`
      : `There is no config file at ${path} yet. ${TO_GET_SERVERS}`;
  }
  const anySkills = servers.some(({ skills }) => skills !== undefined);
  const rows = servers.map(({ name, kind, tools, skills, runs, problem }) => [
    name,
    kind,
    runs === undefined ? "" : (tools?.toString() ?? "?"),
    ...(anySkills ? [skills?.toString() ?? ""] : []),
    problem ?? runs ?? "",
  ]);
  const unknown = servers.some(({ runs, tools }) => runs !== undefined && tools === undefined);
  const hint = unknown
    ? '\n\n?: not known yet. To find out, run "metamcp doctor", which starts every server once.'
    : "";
  return `${table(["SERVER", "KIND", "TOOLS", ...(anySkills ? ["SKILLS"] : []), "RUNS"], rows)}${hint}`;
}
