/**
 * Describes a plan for a model and for a user: the exact command, and texts of the publisher with unsafe
 * characters removed or escaped.
 */
import { summarize } from "../catalog/summary.ts";
import { shownSandbox, UNCONFINED } from "../config/sandbox.ts";
import type { Env } from "../home/home.ts";
import { type Mask, maskOf } from "../kernel/secret.ts";
import { addressesOf, type Candidate } from "./candidate.ts";
import type { Plan } from "./plan.ts";
import type { Trust } from "./trust.ts";

const DESCRIPTION_LENGTH = 200;

export interface ShownCandidate {
  readonly plan: Plan;
  readonly trust: Trust;
  readonly fit: number;
  /** Its name if it is already in the config. */
  readonly configured: string | undefined;
}

export function matchOf({ plan, trust, fit, configured }: ShownCandidate, env: Env) {
  const { candidate, entry, missing, flaw } = plan;
  const { id, name, from, version, description, verified, link, bundle } = candidate;
  const { command, args, ...rest } = "command" in entry ? entry : { ...entry, command: undefined, args: [] };
  return {
    id,
    name,
    from,
    version,
    description: summarize(plain(description), DESCRIPTION_LENGTH),
    fit,
    ...(command !== undefined && { runs: [command, ...args] }),
    ...rest,
    ...(command !== undefined && { touches: touchedBy(plan) }),
    bundle,
    ...variablesOf(plan, env),
    ...(missing.length > 0 && { missing }),
    configured,
    trust,
    verified,
    link,
    ...(flaw && { refused: flaw }),
  };
}

/** Contains names and whether they are set, but no values. */
function variablesOf({ candidate: { variables } }: Plan, env: Env) {
  if (variables.length === 0) return {};
  return {
    variables: variables.map(({ name, description, required, secret }) => ({
      name,
      ...(description && { description: summarize(plain(description), DESCRIPTION_LENGTH) }),
      required,
      secret,
      set: Boolean(env[name]),
    })),
  };
}

/** The question to the user. It shows exactly what will run and which file will be changed. */
export function questionFor(plan: Plan, configPath: string): string {
  const { candidate, entry } = plan;
  const { id, version, from, variables, link, bundle } = candidate;
  const local = "command" in entry;
  const passed = variables
    .map(({ name }) => name)
    .filter((name) => JSON.stringify(entry).includes(`\${${name}`));
  const values = Object.entries((local ? entry.env : entry.headers) ?? {});
  return [
    `Add the MCP server ${visible(id)}${version ? ` ${visible(version)}` : ""} (from the ${from})? It is not on your list of trusted publishers.`,
    local
      ? `This command will run: ${visible(JSON.stringify([entry.command, ...entry.args]))}`
      : `MetaMCP will ${"url" in entry ? "connect to" : "call the API that is described at"}: ${addressesOf(entry).map(visible).join(", at ")}`,
    ...(local ? [`It may touch: ${visible(touchedBy(plan))}`] : []),
    ...(bundle ? [`Downloaded first: ${visible(bundle.url)} (sha256 ${visible(bundle.sha256)})`] : []),
    ...(values.length > 0
      ? [`${local ? "Its environment" : "Headers"}: ${visible(JSON.stringify(Object.fromEntries(values)))}`]
      : []),
    ...(passed.length > 0 ? [`It gets the values of your variables: ${passed.map(visible).join(", ")}`] : []),
    ...(link ? [`More about it: ${visible(link)}`] : []),
    `It will be written to ${configPath}.`,
  ].join("\n");
}

/** What a local server may touch, as planned: a sandbox for all servers may be narrower. */
function touchedBy({ entry, unconfined }: Plan): string {
  if (!("command" in entry)) return "";
  const { sandbox } = entry;
  if (sandbox === undefined && unconfined === undefined) return "what the sandbox for all servers allows";
  if (!sandbox) return `${UNCONFINED}${unconfined === undefined ? "" : ` (${unconfined})`}`;
  const { read = [], write = [], network = "all" } = sandbox === true ? {} : sandbox;
  return shownSandbox({ read, write, network });
}

/**
 * Escapes all characters outside of printable ASCII, because they may hide text, change its direction or look
 * like other letters.
 */
function visible(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
}

/** Masks the values of a candidate's variables in messages. */
export function maskOfCandidate({ variables }: Candidate, env: Env): Mask {
  return maskOf(variables.flatMap(({ name }) => env[name] ?? []));
}
