/** `metamcp search`: finds tools and skills for a task, ranked like mcp_discover. */
import { UsageError } from "../config/command-line.ts";
import type { Config } from "../config/spec.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { callMeta, type Result, textOf } from "./call-surface.ts";
import type { Command } from "./command.ts";
import { spin } from "./spinner.ts";
import { show, TO_GET_SERVERS, table } from "./table.ts";
import { withEngine } from "./with-engine.ts";

interface Discovered {
  readonly tools: readonly { server: string; tool: string; confidence: number; description: string }[];
  readonly skills?: readonly { server: string; name: string; description: string; uri: string }[];
  readonly unknown?: readonly { server: string; reason: string }[];
  readonly notice?: string;
}

export const command: Command = {
  name: "search",
  usage: "search WORDS…",
  summary: "Find tools and skills for a task that you describe in plain words.",
  flags: {
    limit: { kind: "whole", least: 1, most: 100, default: 10, env: false, help: "How many to show." },
  },
  takes: [1, Number.POSITIVE_INFINITY],
  async run({ positionals, settings, ...given }) {
    const query = positionals.join(" ");
    if (query.trim() === "") throw new UsageError("Describe the task in words.");
    const spinner = spin("looking at the servers …");
    return await withEngine({ positionals, settings, ...given }, async ({ scope }, config) => {
      const { limit } = settings as unknown as { limit: number };
      const result = fromRaw(await callMeta(scope, "mcp_discover", toRaw({ query, limit }))) as Result;
      spinner.stop();
      if (result.isError) throw new Error(textOf(result));
      const answer = JSON.parse(textOf(result)) as Discovered;
      show(answer, settings.json, () => forPeople(answer, config));
      return 0;
    }).finally(() => spinner.stop());
  },
};

function forPeople(
  { tools, skills = [], unknown = [], notice }: Discovered,
  { servers, broken }: Config,
): string {
  const found =
    tools.length === 0
      ? `No matching tool.${servers.size + broken.size === 0 ? ` No servers are configured: ${TO_GET_SERVERS}` : ""}`
      : table(
          ["SERVER", "TOOL", "CONFIDENCE", "WHAT IT DOES"],
          tools.map(({ server, tool, confidence, description }) => [
            server,
            tool,
            `${Math.round(confidence * 100)}%`,
            description,
          ]),
        );
  const read =
    skills.length === 0
      ? []
      : [
          "",
          table(
            ["SERVER", "SKILL", "WHAT IT IS FOR", "ADDRESS"],
            skills.map(({ server, name, description, uri }) => [server, name, description, uri]),
          ),
        ];
  const missing = unknown.map(({ server, reason }) => `! ${server} could not be reached: ${reason}`);
  const unusable = [...broken].map(([server, reason]) => `! ${server} cannot be used: ${reason}`);
  return [found, ...read, ...missing, ...unusable, ...(notice ? [`! ${notice}`] : [])].join("\n");
}
