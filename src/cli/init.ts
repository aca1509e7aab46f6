/** `metamcp init`: puts MetaMCP into the clients that are installed, offers to take the servers it runs out of their own lists, and puts all back with --undo. Changes no file without a yes. */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { ClientProgram, Own } from "../clients/client.ts";
import { faultOf, installed, type Spot } from "../clients/client-file.ts";
import { connect, planConnect } from "../clients/connect.ts";
import { OWN_NAME, ownEntry } from "../clients/own.ts";
import { CLIENTS } from "../clients/table.ts";
import { type OurEntries, type OwnList, ownListOf, planTakeOut, takeOut } from "../clients/take-out.ts";
import { planUndo, undo } from "../clients/undo.ts";
import { homeFolder } from "../home/home.ts";
import { VERSION } from "../kernel/version.ts";
import { clientsNamed, machine } from "./clients.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { HERE, targetFile } from "./here.ts";
import { configLayers } from "./layers.ts";
import { ourEntries } from "./our-entries.ts";
import { show } from "./table.ts";

/** One file of one client: what is to be done, then what was done. */
interface Step {
  readonly client: ClientProgram;
  readonly file: string;
  readonly state: "change" | "connected" | "gone" | "fault";
  readonly diff?: string;
  readonly message?: string;
}

interface Done {
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
  /** Servers that were taken out of the client's own list. */
  readonly taken?: readonly string[];
  /** Servers that the client still starts by itself. */
  readonly remaining?: readonly string[];
  /** Those of them that stand in our config, but cannot be used there. */
  readonly blocked?: OwnList["blocked"];
}

const FLAGS = {
  ...HERE,
  yes: { kind: "switch", env: false, help: "Do not ask." },
  undo: { kind: "switch", env: false, help: "Restore the files." },
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
      show(undone, options.json, () => forPeople(undone, { back: true, asked: positionals }));
      return exitCode(undone, positionals, true);
    }
    const config = targetFile(given);
    const own = ourselves(config);
    const act = async (step: Step): Promise<void> =>
      void (await connect(step, own, { home, now: new Date() }));
    const connected = await runSteps(await planAll(clients, own, config), act, options);
    const done = await withoutDoubles(connected, await ourEntries(config, configLayers(settings).check), {
      ...options,
      home,
    });
    show(done, options.json, () => forPeople(done, { back: false, asked: positionals, own }));
    return exitCode(done, positionals, false);
  },
};

/** Offers to take out what MetaMCP runs by now; says what else each client starts by itself. */
async function withoutDoubles(
  steps: readonly Done[],
  ours: OurEntries,
  options: Options & { readonly home: string },
): Promise<readonly Done[]> {
  const done: Done[] = [];
  for (const step of steps) {
    const client = CLIENTS.find(({ id }) => id === step.client);
    const connected = step.result === "connected" || step.result === "already connected";
    done.push(
      client && connected ? await withoutDouble({ client, file: step.file }, step, ours, options) : step,
    );
  }
  return done;
}

async function withoutDouble(
  spot: Spot,
  step: Done,
  ours: OurEntries,
  { home, yes, json }: Options & { readonly home: string },
): Promise<Done> {
  try {
    const before = await ownListOf(spot, ours);
    const plan = await planTakeOut(spot, ours.usable);
    if (!json && plan?.state === "change") process.stdout.write(`${spot.client.title}\n${plan.diff}\n\n`);
    const question = `MetaMCP runs ${before.doubled.join(", ")} now. Remove ${before.doubled.length === 1 ? "it" : "them"} from ${spot.client.title}'s own list?`;
    const agreed = plan?.state === "change" && (yes || (!json && canAsk && (await confirmed(question))));
    if (agreed) await takeOut(spot, ours.usable, { home, now: new Date() });
    const { doubled, only, blocked } = await ownListOf(spot, ours);
    const remaining = [...doubled, ...only, ...blocked.map(({ name }) => name)];
    return { ...step, taken: agreed ? before.doubled : [], remaining, blocked };
  } catch (error) {
    return { ...step, result: "failed", problem: faultOf(error, spot.file) };
  }
}

function ourselves(config: string): Own {
  const { env, execPath, argv } = process;
  return ownEntry({
    node: execPath,
    script: realpathSync(argv[1] ?? ""),
    version: VERSION,
    config,
    home: env["METAMCP_HOME"] ? homeFolder(env) : undefined,
  });
}

async function planAll(
  clients: readonly ClientProgram[],
  own: Own,
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
): Promise<readonly Done[]> {
  const done: Done[] = [];
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
  { yes, json, undo: back }: Options,
): Promise<Pick<Done, "result" | "problem">> {
  const { client, state, diff } = step;
  if (!json && diff) process.stdout.write(`${client.title}\n${diff}\n\n`);
  if (state === "change" && !yes) {
    if (json || !canAsk) return { result: "not done" };
    if (!(await confirmed(`Change ${step.file}?`))) return { result: "declined" };
  }
  try {
    await act(step);
  } catch (error) {
    return { result: "failed", problem: faultOf(error, step.file) };
  }
  if (!back) return { result: "connected" };
  return { result: state === "gone" ? "nothing to undo" : "undone" };
}

interface Wish {
  readonly back: boolean;
  /** The clients that were named. */
  readonly asked: readonly string[];
  /** Undefined when it is undone. */
  readonly own?: Own;
}

function forPeople(done: readonly Done[], wish: Wish): string {
  if (done.length === 0) return nothing(wish);
  const { back } = wish;
  const lines = done.flatMap((one) => [
    `${one.client}: ${one.problem ?? `${one.result} (${one.file})`}`,
    ...listOf(one).map((line) => `  ${line}`),
  ]);
  if (done.some(({ result, taken }) => result === "connected" || taken?.length)) {
    lines.push("", "Restart these clients. To restore the files: metamcp init --undo");
  }
  if (done.some(({ result }) => result === "not done")) {
    const again = back ? "metamcp init --undo --yes" : "metamcp init --yes";
    lines.push("", `Nothing was changed: there is no terminal to ask on. To skip the question: ${again}`);
  }
  return lines.join("\n");
}

function listOf({ client, taken = [], remaining, blocked = [] }: Done): readonly string[] {
  const gone = taken.length > 0 ? [`removed from its own list: ${taken.join(", ")}`] : [];
  if (remaining === undefined) return gone;
  if (remaining.length === 0) return [...gone, `its only server is now ${OWN_NAME}`];
  const others = remaining.filter((name) => !blocked.some((one) => one.name === name));
  return [
    ...gone,
    ...(others.length > 0
      ? [
          `it still starts these itself: ${others.join(", ")}. To let MetaMCP run them: metamcp import ${client}, then metamcp init ${client}`,
        ]
      : []),
    ...blocked.map(
      ({ name, reason }) =>
        `it still starts ${name} itself, because MetaMCP cannot: ${reason}. After you fix this, run: metamcp init ${client}`,
    ),
  ];
}

function nothing({ back, asked, own }: Wish): string {
  if (back || !own) return "There is nothing to undo.";
  const which = asked.length > 0 ? asked : CLIENTS.map(({ id }) => id);
  const { command: program, args, env } = own;
  const entry = { command: program, args, ...(Object.keys(env).length > 0 && { env }) };
  return `Not installed here: ${which.join(", ")}.
For other clients, add this entry to their list of servers:

  "${OWN_NAME}": ${JSON.stringify(entry)}`;
}

function exitCode(done: readonly Done[], asked: readonly string[], back: boolean): ExitCode {
  if (done.some(({ result }) => result === "not done")) return 2;
  if (done.some(({ result }) => result === "failed")) return 1;
  return done.length === 0 && asked.length > 0 && !back ? 1 : 0;
}
