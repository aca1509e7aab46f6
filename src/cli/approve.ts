/**
 * `metamcp approve`: shows which tools of a server changed since they were approved, and approves the shown
 * changes.
 */
import { notListed } from "../catalog/catalog-loader.ts";
import { ITEM_KINDS } from "../catalog/item.ts";
import { hasHardSign, type Review, type ToolChange } from "../catalog/pins/change.ts";
import type { ItemSigns } from "../catalog/pins/sign-book.ts";
import type { Engine } from "../engine/engine.ts";
import { nearest } from "../kernel/nearest.ts";
import { visible } from "../kernel/visible.ts";
import { requireServer } from "../surface/require-server.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { person } from "./person.ts";
import { print, printError } from "./print.ts";
import { pauseSpinner, spin } from "./spinner.ts";
import { show } from "./table.ts";
import { differences, headline, shownKey, signLines } from "./tool-changes.ts";
import { withEngine } from "./with-engine.ts";

/** What differs from what was approved, and what has signs although it needs no approval. */
interface Selected {
  readonly changes: readonly ToolChange[];
  readonly signs: readonly ItemSigns[];
}
type Seen = Review & Selected;

/** Servers list prompts and resources shortly after their tools. */
const LIST_WAIT_MS = 3_000;

export const command: Command = {
  name: "approve",
  usage: "approve SERVER [TOOL …]",
  summary: "Show which tools of a server are new or changed, and approve them.",
  flags: { yes: { kind: "switch", env: false, help: "Approve without asking." } },
  takes: [1, Number.POSITIVE_INFINITY],
  async run(given) {
    const [server = "", ...tools] = given.positionals;
    return await withEngine(given, async (engine) => {
      const seen = await reviewServer(engine, server);
      const selected = select(seen, tools);
      const { changes, signs } = selected;
      const count = changes.length + signs.length;
      const { json } = given.settings;
      const yes = given.settings["yes"] === true;
      if (!json) print(forPeople(server, seen, selected));
      const agreed = count > 0 && (yes || (!json && (await ask(server, count))));
      if (agreed) await engine.pins.approve(server, seen, (change) => isOneOf(changes, change));
      if (agreed) await engine.pins.approveSigns(server, signs);
      const approved = agreed ? [...changes.map(({ tool }) => tool), ...signs.map(({ name }) => name)] : [];
      if (json) show(answer(server, seen, approved), true, () => "");
      else if (count > 0) print(outcome(agreed));
      return exitCode(selected, agreed);
    });
  },
};

function isOneOf(changes: readonly ToolChange[], change: ToolChange): boolean {
  return changes.some((one) => one.of === change.of && one.tool === change.tool);
}

/** Soft signs need no approval. */
function exitCode({ changes, signs }: Selected, agreed: boolean): ExitCode {
  return agreed || (changes.length === 0 && !signs.some(hasHardSign)) ? 0 : 1;
}

/** Connects to the server, so that its current tools are compared and not cached ones. */
async function reviewServer({ scope, pins }: Engine, server: string): Promise<Seen> {
  requireServer(scope, server, person, '"metamcp list"');
  const spinner = spin(`asking ${server} for its tools`);
  try {
    // A server may list other tools for clients with other capabilities. Their cached lists are reviewed too.
    await scope.view(person).loadCached();
    (await scope.connect(server, person)).release();
    await pins.settled();
  } finally {
    spinner.stop();
  }
  const view = scope.view(person);
  if (!view.isLive(server))
    throw new Error(`${server} runs, but ${notListed(view.fault(server) ?? "it gave no reason")}.`);
  for (const kind of ITEM_KINDS) await scope.loader.loadMissing([server], person, LIST_WAIT_MS, kind);
  await pins.settled();
  return { ...pins.review(server), signs: await pins.signs(server) };
}

function select({ changes, signs }: Seen, names: readonly string[]): Selected {
  if (names.length === 0) return { changes, signs };
  const known = [...changes.map(({ tool }) => tool), ...signs.map(({ name }) => name)];
  for (const name of names) {
    if (known.includes(name)) continue;
    const [guess] = nearest(name, known, 1);
    throw new Error(`"${name}" does not need approval.${guess ? ` Did you mean "${visible(guess)}"?` : ""}`);
  }
  // A prompt may have the name of a tool. Both are shown then before they are approved.
  return {
    changes: changes.filter(({ tool }) => names.includes(tool)),
    signs: signs.filter(({ name }) => names.includes(name)),
  };
}

function forPeople(server: string, { changes, signs, removed, fault }: Seen, selected: Selected): string {
  const lines = fault ? [`! ${fault}.`, ""] : [];
  for (const change of selected.changes)
    lines.push(
      headline(change),
      ...signLines(change.signs).map((line) => `  ${line}`),
      ...differences(change).map((line) => `  ${line}`),
      "",
    );
  for (const item of selected.signs)
    lines.push(shownKey(item), ...signLines(item.signs).map((line) => `  ${line}`), "");
  if (removed.length > 0)
    lines.push(`No longer listed: ${removed.map((name) => visible(name)).join(", ")}`, "");
  const others = [
    ...changes.filter((change) => !selected.changes.includes(change)).map(({ tool }) => visible(tool)),
    ...signs.filter((item) => !selected.signs.includes(item)).map(shownKey),
  ];
  if (others.length > 0) lines.push(`Still to approve: ${others.join(", ")}`, "");
  return selected.changes.length + selected.signs.length > 0
    ? lines.join("\n").trimEnd()
    : [...lines, `Nothing to approve: the tools of ${server} are unchanged.`].join("\n");
}

async function ask(server: string, count: number): Promise<boolean> {
  if (!canAsk) {
    printError("metamcp: there is no terminal to ask on; use --yes to approve what is shown.");
    return false;
  }
  pauseSpinner();
  return await confirmed(`\nApprove ${count === 1 ? "this" : `these ${count}`} of ${server}?`);
}

function outcome(agreed: boolean): string {
  return agreed ? "\nApproved. Running gateways pick this up within a second." : "\nNothing was approved.";
}

function answer(server: string, { changes, signs, removed, fault }: Seen, approved: readonly string[]) {
  return {
    server,
    changes: changes.map(({ of, tool, kind, parts, signs, before, after }) => ({
      of,
      tool,
      kind,
      parts,
      signs,
      ...(before !== undefined && { before: JSON.parse(before) as unknown }),
      after: after && (JSON.parse(after) as unknown),
    })),
    signs,
    removed,
    fault,
    approved,
  };
}
