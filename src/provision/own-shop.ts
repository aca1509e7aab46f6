/** The personal mode: what is trusted is added, else its user is asked. */
import { readConfigText } from "../config/load.ts";
import { adviceOn } from "./advice.ts";
import type { Installer } from "./install.ts";
import type { Ledger } from "./ledger.ts";
import {
  type Added,
  type Noted,
  type ProvisionCaller,
  readyOf,
  type Shop,
  type ShopFindings,
} from "./shop.ts";
import { questionFor, type ShownCandidate } from "./show.ts";

export interface OwnShopParts {
  readonly installer: Pick<Installer, "install">;
  readonly ledger: Pick<Ledger, "nameOf" | "place">;
  readonly withheld: Shop["withheld"];
}

/** What stands at the end of more than this is not read before a yes. */
const LONGEST_QUESTION = 4_000;

export function ownShop({ installer, ledger, withheld }: OwnShopParts): Shop {
  const install = async ({ plan }: ShownCandidate, asker: ProvisionCaller): Promise<Added> => ({
    ...(await installer.install(plan, asker)),
    from: plan.candidate.from,
  });
  return {
    nameOf: (entry) => ledger.nameOf(entry),
    configured: async () => (await readConfigText(ledger.place).catch(() => undefined)) ?? "",
    withheld,
    advise: adviceOn,
    async add({ matches, locked }: ShopFindings, asker: ProvisionCaller): Promise<Added | Noted> {
      const advice = adviceOn(matches);
      const ready = readyOf(matches);
      const trusted = ready.find(({ trust }) => trust === "trusted");
      const [first] = ready;
      if (locked || !first) return { next: advice };
      if (trusted) return await install(trusted, asker);
      // It is the user's own already: nothing to ask for, and nothing to add.
      if (first.configured !== undefined) return { next: adviceOn([first]) };
      if (!asker.ask) return { next: `${advice} This client cannot ask its user.` };
      const question = questionFor(first.plan, ledger.place);
      if (question.length > LONGEST_QUESTION)
        return { next: `${advice} Its command is too long to show in a question.` };
      const said = await asker.ask(question);
      if (asker.signal.aborted) throw asker.signal.reason;
      if (said === "yes") return await install(first, asker);
      const { name } = first.plan.candidate;
      return {
        next:
          said === "no"
            ? `The user declined ${name}. Do not try again unless they ask for it.`
            : `The user did not answer about ${name}. ${advice}`,
      };
    },
  };
}
