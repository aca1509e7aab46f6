/**
 * `metamcp approve`: shows which tools of a server changed since they were approved, and approves the shown
 * changes.
 */
import { notListed } from "../catalog/catalog-loader.ts";
import type { Review, ToolChange } from "../catalog/pins/change.ts";
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
import { differences, headline, signLines } from "./tool-changes.ts";
import { withEngine } from "./with-engine.ts";

export const command: Command = {
  name: "approve",
  usage: "approve SERVER [TOOL …]",
  summary: "Show which tools of a server are new or changed, and approve them.",
  flags: { yes: { kind: "switch", env: false, help: "Approve without asking." } },
  takes: [1, Number.POSITIVE_INFINITY],
  async run(given) {
    const [server = "", ...tools] = given.positionals;
    return await withEngine(given, async (engine) => {
      const review = await reviewServer(engine, server);
      const selected = selectChanges(review, tools);
      const { json } = given.settings;
      const yes = given.settings["yes"] === true;
      if (!json) print(forPeople(server, review, selected));
      const agreed = selected.length > 0 && (yes || (!json && (await ask(server, selected))));
      if (agreed) await engine.pins.approve(server, review, (change) => isOneOf(selected, change));
      const approved = agreed ? selected.map(({ tool }) => tool) : [];
      if (json) show(answer(server, review, approved), true, () => "");
      else if (selected.length > 0) print(outcome(agreed));
      return exitCode(selected, agreed);
    });
  },
};

function isOneOf(changes: readonly ToolChange[], change: ToolChange): boolean {
  return changes.some((one) => one.of === change.of && one.tool === change.tool);
}

function exitCode(selected: readonly ToolChange[], agreed: boolean): ExitCode {
  return selected.length === 0 || agreed ? 0 : 1;
}

/** Connects to the server, so that its current tools are compared and not cached ones. */
async function reviewServer({ scope, pins }: Engine, server: string): Promise<Review> {
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
  return pins.review(server);
}

function selectChanges({ changes }: Review, tools: readonly string[]): readonly ToolChange[] {
  if (tools.length === 0) return changes;
  return tools.flatMap((name) => {
    // A prompt may have the name of a tool. Both are shown then before they are approved.
    const named = changes.filter(({ tool }) => tool === name);
    if (named.length > 0) return named;
    const [guess] = nearest(
      name,
      changes.map(({ tool }) => tool),
      1,
    );
    throw new Error(`"${name}" does not need approval.${guess ? ` Did you mean "${visible(guess)}"?` : ""}`);
  });
}

function forPeople(
  server: string,
  { changes, removed, fault }: Review,
  selected: readonly ToolChange[],
): string {
  const lines = fault ? [`! ${fault}.`, ""] : [];
  for (const change of selected)
    lines.push(
      headline(change),
      ...signLines(change.signs).map((line) => `  ${line}`),
      ...differences(change).map((line) => `  ${line}`),
      "",
    );
  if (removed.length > 0)
    lines.push(`No longer listed: ${removed.map((name) => visible(name)).join(", ")}`, "");
  const others = changes.filter((change) => !selected.includes(change));
  if (others.length > 0)
    lines.push(`Still to approve: ${others.map(({ tool }) => visible(tool)).join(", ")}`, "");
  return selected.length > 0
    ? lines.join("\n").trimEnd()
    : [...lines, `Nothing to approve: the tools of ${server} are unchanged.`].join("\n");
}

async function ask(server: string, { length }: readonly ToolChange[]): Promise<boolean> {
  if (!canAsk) {
    printError("metamcp: there is no terminal to ask on; use --yes to approve what is shown.");
    return false;
  }
  pauseSpinner();
  return await confirmed(`\nApprove ${length === 1 ? "this tool" : `these ${length} tools`} of ${server}?`);
}

function outcome(agreed: boolean): string {
  return agreed ? "\nApproved. Running gateways pick this up within a second." : "\nNothing was approved.";
}

function answer(server: string, { changes, removed, fault }: Review, approved: readonly string[]) {
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
    removed,
    fault,
    approved,
  };
}
