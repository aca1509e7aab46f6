/**
 * Provisioning in the personal mode: adds a server of a trusted publisher, and asks the user before it adds
 * another one.
 */
import { readConfigText } from "../config/load.ts";
import type { ConfigWriter } from "./config-writer.ts";
import type { Installer } from "./install.ts";
import {
  type Added,
  type Findings,
  type NotAdded,
  type ProvisionCaller,
  type ProvisionPolicy,
  readyMatches,
} from "./provision-policy.ts";
import { questionFor, type ShownCandidate } from "./show.ts";

export interface PersonalPolicyParts {
  readonly installer: Pick<Installer, "install">;
  readonly writer: Pick<ConfigWriter, "nameOf" | "confined" | "location">;
  readonly withheld: ProvisionPolicy["withheld"];
}

/** A user does not read the end of a longer question. */
const MAX_QUESTION_LENGTH = 4_000;

export function personalPolicy({ installer, writer, withheld }: PersonalPolicyParts): ProvisionPolicy {
  const install = async ({ plan }: ShownCandidate, asker: ProvisionCaller): Promise<Added> => ({
    ...(await installer.install(plan, asker)),
    from: plan.candidate.from,
  });
  return {
    nameOf: (entry) => writer.nameOf(entry),
    confined: (entry, from) => writer.confined(entry, from),
    configured: async () => (await readConfigText(writer.location).catch(() => undefined)) ?? "",
    withheld,
    advise: adviceOn,
    async add({ matches, locked }: Findings, asker: ProvisionCaller): Promise<Added | NotAdded> {
      const advice = adviceOn(matches);
      const ready = readyMatches(matches);
      const trusted = ready.find(({ trust }) => trust === "trusted");
      const [first] = ready;
      if (locked || !first) return { next: advice };
      if (trusted) return await install(trusted, asker);
      // The server is already in the user's config.
      if (first.configured !== undefined) return { next: adviceOn([first]) };
      if (!asker.ask) return { next: `${advice} This client cannot ask its user.` };
      const question = questionFor(first.plan, writer.location);
      if (question.length > MAX_QUESTION_LENGTH)
        return { next: `${advice} Its command is too long to show in a question.` };
      const reply = await asker.ask(question);
      if (asker.signal.aborted) throw asker.signal.reason;
      if (reply === "yes") return await install(first, asker);
      const { name } = first.plan.candidate;
      return {
        next:
          reply === "no"
            ? `The user declined ${name}. Do not try again unless they ask for it.`
            : `The user did not answer about ${name}. ${advice}`,
      };
    },
  };
}

function adviceOn(matches: readonly ShownCandidate[]): string {
  const usable = matches.filter(({ trust, plan }) => trust !== "denied" && !plan.flaw);
  const [first] = usable;
  if (!first)
    return "None of these can be used: your list of publishers denies them, or their entries are invalid.";
  const { candidate, missing } = first.plan;
  if (first.configured !== undefined) {
    return `${candidate.name} is already configured: mcp_discover {server: "${first.configured}"} shows its tools.`;
  }
  const steps = [
    ...(missing.length > 0 ? [`set ${missing.join(", ")} where MetaMCP is started, and restart it`] : []),
    ...(first.trust === "unknown"
      ? [`ask the user to review what it runs and to trust it: metamcp trust add ${candidate.id}`]
      : []),
    "call again with autoProvision: true",
  ];
  const others = usable.length > 1 ? " To choose another one, pass its id as the intent." : "";
  return `To add ${candidate.name}: ${steps.join("; then ")}.${others}`;
}
