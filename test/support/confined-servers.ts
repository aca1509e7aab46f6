/** The servers that docs/sandboxing.md says run confined, with their settings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { NewSandbox } from "../../src/provision/new-sandbox.ts";
import { ROOT } from "./temp.ts";

export interface ConfinedServer {
  readonly name: string;
  readonly package: string;
  readonly sandbox: NewSandbox;
}

export function confinedServers(): readonly ConfinedServer[] {
  const [, table = ""] =
    /<!-- confined-servers -->([\s\S]*)<!-- \/confined-servers -->/.exec(
      readFileSync(join(ROOT, "docs/sandboxing.md"), "utf8"),
    ) ?? [];
  return [...table.matchAll(/^\| ([\w-]+) \| `([^`]+)` \| `([^`]+)` \|/gm)].map(
    ([, name = "", identifier = "", sandbox = ""]) => ({
      name,
      package: identifier,
      sandbox: JSON.parse(sandbox) as NewSandbox,
    }),
  );
}
