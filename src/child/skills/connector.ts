/** Opens links to folders of skills: a server in this process, without a process of its own. */
import type { ServerSpec } from "../../config/spec.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import { SkillsLink } from "./link.ts";
import { survey } from "./read-skills.ts";

export interface SkillsConnectorOptions {
  readonly log: Log;
  readonly clock: Clock;
}

export function createSkillsConnector(options: SkillsConnectorOptions): Connector {
  return {
    async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
      const folders = (spec.kind === "stdio" && spec.skillFolders) || [];
      const { roots, problems } = await survey(folders);
      if (signal.aborted) throw new ChildFailure("other", "no longer needed", { unsent: true });
      if (roots.every(({ real }) => real === undefined))
        throw new ChildFailure("offline", problems.join("; ") || "it has no folders", { unsent: true });
      return new SkillsLink({ ...options, name: spec.name, folders }, events);
    },
  };
}
