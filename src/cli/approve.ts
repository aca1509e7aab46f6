/** `metamcp approve`: shows what changed of a server's tools since they were approved, and approves what was shown. */
import { notListed } from "../catalog/catalog-loader.ts";
import type { Review, ToolChange } from "../catalog/pins/change.ts";
import { UsageError } from "../config/command-line.ts";
import type { Engine } from "../engine.ts";
import { nearest } from "../kernel/nearest.ts";
import { visible } from "../kernel/visible.ts";
import { requireServer } from "../surface/require-server.ts";
import { differences, headline } from "./changes.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { withEngine } from "./open.ts";
import { person } from "./person.ts";
import { hushSpinner, spin } from "./spinner.ts";
import { show } from "./table.ts";

export const command: Command = {
  name: "approve",
  usage: "approve SERVER [TOOL …]",
  summary: "Show which tools of a server are new or changed, and approve them.",
  flags: { yes: { kind: "switch", env: false, help: "Approve without asking." } },
  takes: [1, Number.POSITIVE_INFINITY],
  async run(given) {
    const [server = "", ...tools] = given.positionals;
    return await withEngine(given, async (engine) => {
      const review = await look(engine, server);
      const wanted = chosen(review, tools);
      const { json } = given.settings;
      const yes = given.settings["yes"] === true;
      if (!json) process.stdout.write(`${forPeople(server, review, wanted)}\n`);
      const agreed = wanted.length > 0 && (yes || (!json && (await ask(server, wanted))));
      if (agreed) await engine.pins.approve(server, review, new Set(wanted.map(({ tool }) => tool)));
      const approved = agreed ? wanted.map(({ tool }) => tool) : [];
      if (json) show(answer(server, review, approved), true, () => "");
      else if (wanted.length > 0) process.stdout.write(`${outcome(agreed)}\n`);
      return ended(wanted, agreed);
    });
  },
};

function ended(wanted: readonly ToolChange[], agreed: boolean): ExitCode {
  return wanted.length === 0 || agreed ? 0 : 1;
}

/** Its tools as they are now, not as an earlier run saw them. */
async function look({ scope, pins }: Engine, server: string): Promise<Review> {
  requireServer(scope, server, '"metamcp list"');
  const spinner = spin(`asking ${server} for its tools`);
  try {
    // Clients that can do other things may be offered other tools: what they were last offered is reviewed too.
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

function chosen({ changes }: Review, tools: readonly string[]): readonly ToolChange[] {
  if (tools.length === 0) return changes;
  return tools.map((name) => {
    const change = changes.find(({ tool }) => tool === name);
    if (change) return change;
    const [guess] = nearest(
      name,
      changes.map(({ tool }) => tool),
      1,
    );
    throw new UsageError(
      `"${name}" does not need approval.${guess ? ` Did you mean "${visible(guess)}"?` : ""}`,
    );
  });
}

function forPeople(
  server: string,
  { changes, removed, fault }: Review,
  wanted: readonly ToolChange[],
): string {
  const lines = fault ? [`! ${fault}.`, ""] : [];
  for (const change of wanted)
    lines.push(headline(change), ...differences(change).map((line) => `  ${line}`), "");
  if (removed.length > 0)
    lines.push(`No longer listed: ${removed.map((name) => visible(name)).join(", ")}`, "");
  if (wanted.length < changes.length)
    lines.push(`${changes.length - wanted.length} more need approval but were not named.`, "");
  return wanted.length > 0
    ? lines.join("\n").trimEnd()
    : [...lines, `Nothing to approve: the tools of ${server} are unchanged.`].join("\n");
}

async function ask(server: string, { length }: readonly ToolChange[]): Promise<boolean> {
  if (!canAsk) {
    process.stderr.write("metamcp: there is no terminal to ask on; use --yes to approve what is shown.\n");
    return false;
  }
  hushSpinner();
  return await confirmed(`\nApprove ${length === 1 ? "this tool" : `these ${length} tools`} of ${server}?`);
}

function outcome(agreed: boolean): string {
  return agreed ? "\nApproved. Running gateways pick this up within a second." : "\nNothing was approved.";
}

function answer(server: string, { changes, removed, fault }: Review, approved: readonly string[]) {
  return {
    server,
    changes: changes.map(({ tool, kind, parts, before, after }) => ({
      tool,
      kind,
      parts,
      ...(before !== undefined && { before: JSON.parse(before) as unknown }),
      after: after && (JSON.parse(after) as unknown),
    })),
    removed,
    fault,
    approved,
  };
}
