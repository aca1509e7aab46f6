/**
 * `metamcp doctor`: checks the config, starts each server, times it, and says what is wrong and how to fix
 * it.
 */
import { notListed } from "../catalog/catalog-loader.ts";
import { ITEM_KINDS } from "../catalog/item.ts";
import { hasHardSign, type ToolChange } from "../catalog/pins/change.ts";
import type { ItemSigns } from "../catalog/pins/sign-book.ts";
import { ChildFailure } from "../child/link.ts";
import { UNCONFINED } from "../config/sandbox.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import { touchesOf } from "../config/touches.ts";
import type { Engine } from "../engine/engine.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { readToolId } from "../kernel/tool-id.ts";
import { VERSION } from "../kernel/version.ts";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import { type MissingPinned, missingPinned } from "../surface/pinned/missing.ts";
import type { ScopeCatalog } from "../surface/scope.ts";
import type { Command } from "./command.ts";
import { bareEnvironment, variableAdvice } from "./missing-variables.ts";
import { person } from "./person.ts";
import { spin } from "./spinner.ts";
import { show, TO_GET_SERVERS } from "./table.ts";
import { targetsOf } from "./target.ts";
import { headline, itemSignLines, shortDifference, signLines } from "./tool-changes.ts";
import { withEngine } from "./with-engine.ts";

interface Finding {
  readonly server: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly tools?: number;
  readonly skills?: number | undefined;
  readonly problem?: string;
  readonly advice?: string | undefined;
  /** What a local server may touch; undefined for a remote one. */
  readonly touches?: string;
  /** Entries of its lists that were repaired or left out. */
  readonly lists?: readonly string[];
  /** What is new, changed or has a hard sign, and is not approved. */
  readonly unapproved?: readonly ToolChange[];
  /** Signs of an attack in what needs no approval. */
  readonly signs?: readonly ItemSigns[];
}

/** Servers list prompts and resources shortly after their tools. */
const LIST_WAIT_MS = 3_000;
/** Limit of shown changes. --json and `metamcp approve` show all. */
const SHOWN_CHANGES = 5;

interface Report {
  readonly metamcp: string;
  readonly node: string;
  readonly config: string;
  readonly exists: boolean;
  readonly warnings: readonly string[];
  readonly servers: readonly Finding[];
  readonly disabled: readonly string[];
  /** Pinned tools that no client gets. */
  readonly pinned?: readonly MissingPinned[];
}

export const command: Command = {
  name: "doctor",
  usage: "doctor [SERVER …]",
  summary: "Check the config, start each server, and say how to fix what fails.",
  takes: [0, Number.POSITIVE_INFINITY],
  async run(given) {
    return await withEngine(given, async (engine, config) => {
      const only = new Set(given.positionals);
      const isSelected = (name: string): boolean => only.size === 0 || only.has(name);
      const { path, exists, warnings, broken, disabled } = config;
      const checked = await checkAll(engine, config, isSelected);
      const pinned = missingPinned(engine.scope, person).filter(({ id }) =>
        isSelected(readToolId(id)?.server ?? ""),
      );
      const report: Report = {
        metamcp: VERSION,
        node: process.version,
        config: path,
        exists,
        warnings: [...given.warnings, ...warnings],
        servers: [
          ...checked,
          ...[...broken]
            .filter(([name]) => isSelected(name))
            .map(([name, reason]) => misconfigured(name, reason, config)),
          ...[...only].filter((name) => !engine.scope.server(name) && !disabled.has(name)).map(unknown),
        ],
        disabled: [...disabled].filter(isSelected),
        ...(pinned.length > 0 && { pinned }),
      };
      show(report, given.settings.json, () => forPeople(report));
      return exists && report.servers.every(({ ok }) => ok) ? 0 : 1;
    });
  },
};

function misconfigured(server: string, problem: string, { path, withheld }: Config): Finding {
  const advice = problem === withheld?.reason ? undefined : `Fix this entry in ${path}`;
  return { server, ok: false, problem, advice };
}

function unknown(server: string): Finding {
  const advice = '"metamcp list" shows the configured servers';
  return { server, ok: false, problem: "no server of this name is configured", advice };
}

async function checkAll(
  engine: Engine,
  config: Config,
  isSelected: (name: string) => boolean,
): Promise<readonly Finding[]> {
  const specs = [...config.servers.values()].filter(({ name }) => isSelected(name));
  const targets = await targetsOf(config);
  const pending = new Set(specs.map(({ name }) => name));
  const waiting = (): string =>
    `waiting for ${[...pending].slice(0, 3).join(", ")}${pending.size > 3 ? " …" : ""}`;
  const spinner = spin(waiting());
  const findings = await Promise.all(
    specs.map(async (spec) => {
      const found = await check(engine, spec, targets.get(spec.name) ?? "");
      const finding = spec.kind === "stdio" ? { ...found, touches: touchesOf(spec) } : found;
      pending.delete(spec.name);
      spinner.text = waiting();
      return finding;
    }),
  );
  spinner.stop();
  return findings;
}

async function check({ scope, pins, catalog }: Engine, spec: ServerSpec, target: string): Promise<Finding> {
  const server = spec.name;
  const since = performance.now();
  const ms = (): number => Math.round(performance.now() - since);
  try {
    (await scope.connect(server, person)).release();
    const view = scope.view(person);
    const tools = view.isLive(server) ? view.snapshot.listings.get(server)?.tools.length : undefined;
    const took = ms();
    await pins.settled();
    for (const kind of ITEM_KINDS) await scope.loader.loadMissing([server], person, LIST_WAIT_MS, kind);
    const problems = catalog.listProblems(server);
    const lists = problems.length > 0 ? { lists: problems } : {};
    const signs = await pins.signs(server);
    if (tools !== undefined)
      return {
        server,
        ok: true,
        ms: took,
        tools,
        skills: scope.view(person).snapshot.listings.get(server)?.skills?.length || undefined,
        ...lists,
        ...(signs.length > 0 && { signs }),
        ...(signs.some(hasHardSign) && {
          advice: `If they are harmless, approve them:\n$ metamcp approve ${server}`,
        }),
        ...approvalOf(pins.review(server).fault, scope, server),
      };
    const advice = `See what it prints:\n$ metamcp doctor ${server} --log-level debug`;
    const fault = view.fault(server);
    const problem = fault === undefined ? "it runs but did not list its tools" : notListed(fault);
    return { server, ok: false, ms: ms(), problem, advice };
  } catch (error) {
    const problem = problemOf(error);
    const advice = [...(await missingVariables(spec, problem)), adviceFor(error, spec, target)];
    return { server, ok: false, ms: ms(), problem, advice: advice.filter(Boolean).join("\n→ ") || undefined };
  }
}

function approvalOf(fault: string | undefined, { pins }: ScopeCatalog, server: string): Partial<Finding> {
  const unapproved = [...pins.unapproved(server, person), ...pins.unapprovedTexts(server, person)];
  if (unapproved.length === 0) return {};
  const advice = `Review and approve them:\n$ metamcp approve ${server}`;
  return fault ? { problem: `${fault}.`, advice } : { unapproved, advice };
}

/** The cause without the advice for models. */
function problemOf(error: unknown): string {
  const { cause, message } = error as Error;
  const fact = cause instanceof Error ? cause.message : message;
  return MetaMcpError.is(error) && error.code === "auth_required" ? `${error.code}: ${fact}` : fact;
}

function adviceToLogIn({ context }: MetaMcpError): string {
  const { command: toRun } = (context.details ?? {}) as { command?: string };
  if (toRun === undefined) return 'Check the credentials in its "headers".';
  return `Log in, or set credentials in its "headers":\n$ ${toRun}`;
}

function adviceFor(error: unknown, spec: ServerSpec, target: string): string | undefined {
  const login = MetaMcpError.is(error) && error.code === "auth_required";
  if (spec.kind !== "stdio") {
    if (login && spec.oauth?.grant)
      return `Check its oauth.clientId and secret or key, and try them:\n$ metamcp auth ${spec.name}`;
    return login ? adviceToLogIn(error) : `Test it yourself:\n$ curl -i ${target}`;
  }
  if (spec.skillFolders) return "Create the folder, or correct its path in the config";
  // What is missing is missing by hand too.
  const { cause } = error as Error;
  if (cause instanceof ChildFailure && cause.needsFix) return undefined;
  // By hand it would run unconfined.
  if (spec.sandbox)
    return `See what it prints. If it needs more than it may touch, add that to its "sandbox":\n$ metamcp doctor ${spec.name} --log-level debug`;
  return `Run it yourself, with the variables that it gets:\n$ (cd ${spec.cwd} && ${bareEnvironment(spec, process.env)} ${target})`;
}

async function missingVariables(spec: ServerSpec, output: string): Promise<readonly string[]> {
  if (spec.kind !== "stdio") return [];
  return variableAdvice(spec, { output, env: process.env, known: await galleryCandidates() });
}

function forPeople(report: Report): string {
  const { metamcp, node, config, exists, warnings, servers, disabled, pinned = [] } = report;
  const width = Math.max(
    ...[...servers.map(({ server }) => server), ...disabled].map((name) => name.length),
    0,
  );
  const failed = servers.filter(({ ok }) => !ok).length;
  const lines = [
    `MetaMCP ${metamcp}, node ${node}, config ${config}`,
    ...(exists ? [] : [`✗ This file does not exist. ${TO_GET_SERVERS}`]),
    ...warnings.map((warning) => `! ${warning}`),
    "",
    ...servers.map((finding) => line(finding, width)),
    ...disabled.map((name) => `- ${name.padEnd(width)}  disabled`),
    ...pinned.map(({ id, reason }) => `! "pinned": ${id} is not listed: ${reason}`),
  ];
  if (servers.length === 0) return [...lines, "No servers to check."].join("\n");
  const unapproved = servers.some(({ ok, advice }) => ok && advice);
  const faulty = servers.some(({ lists }) => lists);
  const success = unapproved
    ? "All servers run; some have tools to approve."
    : faulty
      ? "All servers run; some have faults in their lists, which MetaMCP corrected."
      : "All servers OK.";
  const verdict =
    failed === 0
      ? success
      : `${failed} of ${servers.length} ${servers.length === 1 ? "server" : "servers"} failed.`;
  return [...lines, "", verdict].join("\n");
}

function counted(tools = 0, skills = 0): string {
  const count = (n: number, what: string): string => `${n} ${n === 1 ? what : `${what}s`}`;
  return [count(tools, "tool"), ...(skills > 0 ? [count(skills, "skill")] : [])].join(", ");
}

function line(finding: Finding, width: number): string {
  const {
    server,
    ok,
    ms = 0,
    tools,
    skills,
    problem,
    advice,
    touches,
    lists = [],
    unapproved = [],
    signs = [],
  } = finding;
  const indent = `\n${" ".repeat(width + 4)}`;
  const after = !ok && ms >= 1_000 ? ` (after ${Math.round(ms / 1_000)} s)` : "";
  const parts = [
    ...(ok ? [`${counted(tools, skills)} in ${ms} ms`] : []),
    ...(problem === undefined ? [] : `${problem}${after}`.split("\n")),
    ...(touches === undefined || touches === UNCONFINED ? [] : [`confined: ${touches}`]),
    ...lists,
    ...unapproved
      .slice(0, SHOWN_CHANGES)
      .flatMap((change) => [
        headline(change),
        ...signLines(change.signs).map((sign) => `  ${sign}`),
        ...shortDifference(change).map((side) => `  ${side}`),
      ]),
    ...(unapproved.length > SHOWN_CHANGES ? [`and ${unapproved.length - SHOWN_CHANGES} more`] : []),
    ...signs.slice(0, SHOWN_CHANGES).flatMap(itemSignLines),
    ...(signs.length > SHOWN_CHANGES ? [`and ${signs.length - SHOWN_CHANGES} more with signs`] : []),
    ...(advice ? `→ ${advice}`.split("\n") : []),
  ];
  const sign = ok ? (advice || lists.length > 0 ? "!" : "✓") : "✗";
  return `${sign} ${server.padEnd(width)}  ${parts.join(indent)}`;
}
