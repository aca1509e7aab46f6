/** `metamcp list`: the configured servers. Starts none of them. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import { hasHardSign, type ToolChange } from "../catalog/pins/change.ts";
import type { Config } from "../config/spec.ts";
import { touchesOf } from "../config/touches.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command, ExitCode } from "./command.ts";
import { person } from "./person.ts";
import { show, TO_GET_SERVERS, table } from "./table.ts";
import { targetsOf } from "./target.ts";
import { headline, signLines } from "./tool-changes.ts";
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
  /** What has a hard sign and is not approved. */
  readonly suspect?: readonly ToolChange[];
}

export const command: Command = {
  name: "list",
  usage: "list",
  summary: "Show the configured servers. Starts nothing.",
  takes: [0, 0],
  async run(given) {
    const list = async ({ scope, pins }: Engine, config: Config): Promise<ExitCode> => {
      const view = scope.view(person);
      await view.loadCached();
      await pins.settled();
      const servers = (await listed(view, config)).map((one) => ({ ...one, ...suspectsOf(pins, one.name) }));
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

function suspectsOf(pins: Engine["pins"], server: string): Pick<Listed, "suspect"> {
  const suspect = pins.review(server).changes.filter(hasHardSign);
  return suspect.length > 0 ? { suspect } : {};
}

function suspectLines({ name, suspect = [] }: Listed): readonly string[] {
  const lines = suspect.flatMap((change) => [
    `! ${name}: ${headline(change)}`,
    ...signLines(change.signs).map((line) => `    ${line}`),
  ]);
  return lines.length > 0 ? [...lines, `  → metamcp approve ${name}`] : [];
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
  const suspects = servers.flatMap(suspectLines);
  const warning = suspects.length > 0 ? `\n\n${suspects.join("\n")}` : "";
  return `${table(["SERVER", "KIND", "TOOLS", ...(anySkills ? ["SKILLS"] : []), "RUNS"], rows)}${warning}${hint}`;
}
