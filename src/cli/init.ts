/**
 * `metamcp init`: adds MetaMCP to the config files of installed clients and offers to remove the servers that
 * MetaMCP runs from them. --undo restores the files. Changes no file without permission.
 */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { ClientProgram, StartCommand } from "../clients/client.ts";
import { type ClientFile, faultOf, installed } from "../clients/client-file.ts";
import { connect, planConnect } from "../clients/connect.ts";
import { isInRunnerCache, METAMCP_NAME, startCommand } from "../clients/metamcp-entry.ts";
import { CLIENTS } from "../clients/table.ts";
import {
  type OtherServers,
  type OurEntries,
  otherServersOf,
  planTakeOut,
  takeOut,
} from "../clients/take-out.ts";
import { planUndo, undo } from "../clients/undo.ts";
import { homeFolder } from "../home/home.ts";
import { VERSION } from "../kernel/version.ts";
import { clientsNamed, machine } from "./clients.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { configLayers } from "./layers.ts";
import { ourEntries } from "./our-entries.ts";
import { print } from "./print.ts";
import { isPublished } from "./published.ts";
import { show } from "./table.ts";
import { TARGET_FILE_FLAGS, targetFile } from "./target-file.ts";

/** A planned change of one file of a client. */
interface Step {
  readonly client: ClientProgram;
  readonly file: string;
  readonly state: "change" | "connected" | "gone" | "fault";
  readonly diff?: string;
  readonly message?: string;
}

interface StepResult {
  readonly client: string;
  readonly file: string;
  readonly result:
    | "connected"
    | "already connected"
    | "undone"
    | "nothing to undo"
    | "declined"
    | "not done"
    | "failed";
  readonly diff?: string;
  readonly problem?: string;
  /** Servers that were removed from the client's own list. */
  readonly taken?: readonly string[];
  /** Servers that the client still starts by itself. */
  readonly remaining?: readonly string[];
  /** Those of `remaining` that are in our config but cannot be used there. */
  readonly blocked?: OtherServers["blocked"];
  /** Those of `remaining` that must stay in the client. */
  readonly kept?: OtherServers["kept"];
}

const FLAGS = {
  ...TARGET_FILE_FLAGS,
  yes: { kind: "switch", env: false, help: "Do not ask." },
  undo: { kind: "switch", env: false, help: "Restore the files of the clients." },
} as const;

export const command: Command = {
  name: "init",
  usage: "init [CLIENT …]",
  summary: "Connect the installed clients to MetaMCP; --undo disconnects them.",
  flags: FLAGS,
  takes: [0, Number.POSITIVE_INFINITY],
  async run(given) {
    const { settings, positionals } = given;
    const options = settings as typeof settings & Options;
    const clients = clientsNamed(positionals);
    const home = homeFolder(process.env);
    if (options.undo) {
      const undone = await runSteps(await planUndo(clients, home), ({ file }) => undo(file, home), options);
      show(undone, options.json, () => forPeople(undone, { undo: true, clients: positionals }));
      return exitCode(undone, positionals, true);
    }
    const config = targetFile(given);
    const own = await metamcpEntry(config);
    const act = async (step: Step): Promise<void> =>
      void (await connect(step, own, { home, now: new Date() }));
    const connected = await runSteps(await planAll(clients, own, config), act, options);
    const done = await removeDuplicates(connected, await ourEntries(config, configLayers(settings).check), {
      ...options,
      home,
    });
    show(done, options.json, () => forPeople(done, { undo: false, clients: positionals, own }));
    return exitCode(done, positionals, false);
  },
};

/** Offers to remove the servers that MetaMCP runs, and adds which servers each client still starts itself. */
async function removeDuplicates(
  steps: readonly StepResult[],
  ours: OurEntries,
  options: Options & { readonly home: string },
): Promise<readonly StepResult[]> {
  const done: StepResult[] = [];
  for (const step of steps) {
    const client = CLIENTS.find(({ id }) => id === step.client);
    const connected = step.result === "connected" || step.result === "already connected";
    done.push(
      client && connected ? await removeDuplicatesIn({ client, file: step.file }, step, ours, options) : step,
    );
  }
  return done;
}

async function removeDuplicatesIn(
  spot: ClientFile,
  step: StepResult,
  ours: OurEntries,
  { home, yes, json }: Options & { readonly home: string },
): Promise<StepResult> {
  try {
    const before = await otherServersOf(spot, ours, machine());
    const plan = await planTakeOut(spot, ours);
    if (!json && plan?.state === "change") print(`${spot.client.title}\n${plan.diff}\n`);
    const question = `MetaMCP runs ${before.doubled.join(", ")} now. Remove ${before.doubled.length === 1 ? "it" : "them"} from ${spot.client.title}'s own list?`;
    const agreed = plan?.state === "change" && (yes || (!json && canAsk && (await confirmed(question))));
    if (agreed) await takeOut(spot, ours, { home, now: new Date() });
    const { doubled, only, blocked, kept } = await otherServersOf(spot, ours, machine());
    const remaining = [...doubled, ...only, ...[...blocked, ...kept].map(({ name }) => name)];
    return { ...step, taken: agreed ? before.doubled : [], remaining, blocked, kept };
  } catch (error) {
    return { ...step, result: "failed", problem: faultOf(error, spot.file) };
  }
}

/** Refuses to write an entry that cannot start, or that would start what somebody else published. */
async function metamcpEntry(config: string): Promise<StartCommand> {
  const { env, execPath, argv } = process;
  const script = realpathSync(argv[1] ?? "");
  if (isInRunnerCache(script) && !(await isPublished(VERSION, script))) {
    throw new Error(
      `MetaMCP runs from the cache of npx, which can be cleared at any time, and ${METAMCP_NAME}@${VERSION} is not on npm's registry or the registry did not answer. No client was changed. Install MetaMCP first (npm install --global FILE.tgz, or --global . in a clone), then run: metamcp init`,
    );
  }
  return startCommand({
    node: execPath,
    script,
    version: VERSION,
    config,
    home: env["METAMCP_HOME"] ? homeFolder(env) : undefined,
  });
}

async function planAll(
  clients: readonly ClientProgram[],
  own: StartCommand,
  config: string,
): Promise<readonly Step[]> {
  const spots = await installed(clients, machine());
  const ours = await realpath(config).catch(() => config);
  const message = "it is also MetaMCP's config; choose another file with --config";
  return await Promise.all(
    spots.map(async (spot) =>
      (await realpath(spot.file).catch(() => spot.file)) === ours
        ? { ...spot, state: "fault" as const, message: `${spot.file}: ${message}` }
        : { ...spot, ...(await planConnect(spot, own)) },
    ),
  );
}

interface Options {
  readonly yes: boolean;
  readonly undo: boolean;
  readonly json: boolean;
}

async function runSteps(
  steps: readonly Step[],
  act: (step: Step) => Promise<void>,
  options: Options,
): Promise<readonly StepResult[]> {
  const done: StepResult[] = [];
  for (const step of steps) {
    const { client, file, state, diff, message } = step;
    const about = { client: client.id, file, ...(diff ? { diff } : {}) };
    if (state === "connected") done.push({ ...about, result: "already connected" });
    else if (state === "fault") done.push({ ...about, result: "failed", problem: message ?? "" });
    else done.push({ ...about, ...(await decide(step, act, options)) });
  }
  return done;
}

async function decide(
  step: Step,
  act: (step: Step) => Promise<void>,
  { yes, json, undo: isUndo }: Options,
): Promise<Pick<StepResult, "result" | "problem">> {
  const { client, state, diff } = step;
  if (!json && diff) print(`${client.title}\n${diff}\n`);
  if (state === "change" && !yes) {
    if (json || !canAsk) return { result: "not done" };
    if (!(await confirmed(`Change ${step.file}?`))) return { result: "declined" };
  }
  try {
    await act(step);
  } catch (error) {
    return { result: "failed", problem: faultOf(error, step.file) };
  }
  if (!isUndo) return { result: "connected" };
  return { result: state === "gone" ? "nothing to undo" : "undone" };
}

interface InitRequest {
  readonly undo: boolean;
  /** The ids that the user gave. */
  readonly clients: readonly string[];
  /** The entry of MetaMCP. Undefined with --undo. */
  readonly own?: StartCommand;
}

function forPeople(done: readonly StepResult[], request: InitRequest): string {
  if (done.length === 0) return noClientText(request);
  const lines = done.flatMap((one) => [
    `${one.client}: ${one.problem ?? `${one.result} (${one.file})`}`,
    ...builtinListText(one).map((line) => `  ${line}`),
  ]);
  if (done.some(({ result, taken }) => result === "connected" || taken?.length)) {
    lines.push("", "Restart these clients. To restore the files: metamcp init --undo");
  }
  if (done.some(({ result }) => result === "not done")) {
    const again = request.undo ? "metamcp init --undo --yes" : "metamcp init --yes";
    lines.push("", `Nothing was changed: there is no terminal to ask on. To skip the question: ${again}`);
  }
  return lines.join("\n");
}

function builtinListText({
  client,
  taken = [],
  remaining,
  blocked = [],
  kept = [],
}: StepResult): readonly string[] {
  const removed = taken.length > 0 ? [`removed from its own list: ${taken.join(", ")}`] : [];
  if (remaining === undefined) return removed;
  if (remaining.length === 0) return [...removed, `its list has only ${METAMCP_NAME} now`];
  const others = remaining.filter((name) => ![...blocked, ...kept].some((one) => one.name === name));
  return [
    ...removed,
    ...(others.length > 0
      ? [
          `it still starts these itself: ${others.join(", ")}. To let MetaMCP run them: metamcp import ${client}, then metamcp init ${client}`,
        ]
      : []),
    ...blocked.map(
      ({ name, reason }) =>
        `it still starts ${name} itself, because MetaMCP cannot: ${reason}. After you fix this, run: metamcp init ${client}`,
    ),
    ...kept.map(({ name, reason }) => `it still starts ${name} itself: ${reason}`),
  ];
}

function noClientText({ undo: isUndo, clients, own }: InitRequest): string {
  if (isUndo || !own) return "There is nothing to undo.";
  const which = clients.length > 0 ? clients : CLIENTS.map(({ id }) => id);
  const { command: program, args, env } = own;
  const entry = { command: program, args, ...(Object.keys(env).length > 0 && { env }) };
  return `Not installed here: ${which.join(", ")}.
For other clients, add this entry to their list of servers:

  "${METAMCP_NAME}": ${JSON.stringify(entry)}`;
}

function exitCode(done: readonly StepResult[], clients: readonly string[], isUndo: boolean): ExitCode {
  if (done.some(({ result }) => result === "not done")) return 2;
  if (done.some(({ result }) => result === "failed")) return 1;
  return done.length === 0 && clients.length > 0 && !isUndo ? 1 : 0;
}
