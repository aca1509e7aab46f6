/**
 * The running calls from "Try it" in the console. Only the person who started a call can answer its
 * questions.
 */
import { randomUUID } from "node:crypto";
import type { ExplainRequest } from "../../gateway/endpoint/explain-tool.ts";
import type { Explained } from "../../gateway/endpoint/explanation.ts";
import type { Preview, RunningTry, TryAnswer, TryControl, TryRequest } from "../../gateway/try-control.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Events } from "../../kernel/events.ts";
import type { Principal } from "../../kernel/principal.ts";
import { plainId, readPlainId } from "../../kernel/replica-ids.ts";
import type { ServedEndpoints } from "../site/served-endpoints.ts";
import { appPage } from "./app-page.ts";
import { TryRun } from "./try-run.ts";

export interface TriesParts {
  readonly endpoints: Pick<ServedEndpoints, "of">;
  readonly events: Pick<Events, "on">;
  /** The id of this gateway among those on the store. */
  readonly replica?: string | undefined;
}

const MOST = 100;
const MAX_OF_ONE = 10;

export class Tries implements TryControl {
  readonly #parts: TriesParts;
  /** By id. */
  readonly #open = new Map<string, { readonly run: TryRun; readonly actor: string }>();

  constructor(parts: TriesParts) {
    this.#parts = parts;
  }

  preview(endpoint: string, principal: Principal): Promise<Preview> | undefined {
    return this.#parts.endpoints.of(endpoint)?.preview(principal);
  }

  explain(endpoint: string, principal: Principal, wanted: ExplainRequest): Promise<Explained> | undefined {
    return this.#parts.endpoints.of(endpoint)?.explain(principal, wanted);
  }

  page(uuid: string, principal: Principal, page: Parameters<TryControl["page"]>[2]) {
    const endpoint = this.#parts.endpoints.of(uuid);
    return endpoint && appPage(endpoint.local, principal, page);
  }

  open({ endpoint: uuid, principal, tool, args }: TryRequest): RunningTry | undefined {
    const endpoint = this.#parts.endpoints.of(uuid);
    if (!endpoint) return undefined;
    const actor = personOf(principal);
    const own = [...this.#open.values()].filter((one) => one.actor === actor);
    if (this.#open.size >= MOST || own.length >= MAX_OF_ONE)
      throw new MetaMcpError("rate_limited", "Too many calls are being tried. End one of them first.");
    const run = new TryRun({
      id: plainId(randomUUID(), this.#parts.replica),
      connect: (parts) => endpoint.local.connect(principal, parts),
      requestOf: (client) => endpoint.requestFor(client, tool, args),
      events: this.#parts.events,
      onEnd: (ended) => {
        this.#open.delete(ended.id);
        endpoint.local.left(ended.client);
      },
    });
    this.#open.set(run.id, { run, actor });
    return run;
  }

  answer(id: string, by: Principal, answer: TryAnswer): ReturnType<TryControl["answer"]> {
    const { elsewhere } = readPlainId(id, this.#parts.replica) ?? {};
    if (elsewhere !== undefined) return { elsewhere };
    const open = this.#open.get(id);
    if (open?.actor !== personOf(by)) return "unknown";
    return open.run.answer(answer) ? "done" : "answered";
  }
}

function personOf({ actor, id }: Principal): string {
  return actor?.id ?? id;
}
