/**
 * A confined server that evaluates code for the test, and what the test says if this machine cannot confine.
 */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Link } from "../../src/child/link.ts";
import { cannotConfine } from "../../src/config/confinable.ts";
import type { Sandbox } from "../../src/config/sandbox.ts";
import { secretsFrom } from "../../src/kernel/secret.ts";
import { atEnd } from "./shared.ts";
import { type StdioHarness, type StdioHarnessOptions, stdioHarness } from "./stdio.ts";
import { type Temp, temp } from "./temp.ts";

export const EVALUATOR = fileURLToPath(new URL("../fixture/evaluator.mjs", import.meta.url));

export const OPEN: Sandbox = { read: [], write: [], network: "all" };
/** Undefined if tests can confine servers here. */
export const WHY_NOT = cannotConfine({ ...OPEN, network: [], memoryMb: 100 });

export interface Confined extends StdioHarness {
  readonly link: Link;
  readonly folder: Temp;
  /** The value of the code inside, or `{ error }`. */
  inside(body: string, given?: unknown): Promise<unknown>;
}

export interface ConfinedOptions extends StdioHarnessOptions {
  readonly variables?: Readonly<Record<string, string>>;
}

export async function confined(
  sandbox: (folder: Temp) => Partial<Sandbox>,
  { variables = {}, ...more }: ConfinedOptions = {},
): Promise<Confined> {
  const folder = temp();
  mkdirSync(folder.home, { recursive: true });
  const harness = stdioHarness([], {
    home: folder.home,
    args: [EVALUATOR],
    cwd: folder.path("."),
    env: secretsFrom(variables),
    sandbox: { ...OPEN, ...sandbox(folder) },
    onTestFinished: atEnd,
    ...more,
  });
  const link = await harness.ready();
  atEnd(async () => await link.close());
  return {
    ...harness,
    link,
    folder,
    async inside(body, given) {
      const answer = (await harness.ask(link, "evaluate", { body, given })) as Record<string, unknown>;
      return "error" in answer ? answer : answer["value"];
    },
  };
}
