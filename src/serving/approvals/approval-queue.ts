/**
 * The queue of calls that wait for an approval. Decisions are in the store, so a decision at any gateway on
 * the same store reaches the call. A call is not made if its caller cancelled, its time ran out or its
 * gateway stopped.
 */
import { randomUUID } from "node:crypto";
import type { Approval, ApprovalControl } from "../../gateway/approval-control.ts";
import { Refusal } from "../../gateway/refusal.ts";
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Call } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { actorOf, type Principal } from "../../kernel/principal.ts";
import { EMPTY_OBJECT } from "../../kernel/raw.ts";
import { shownValue } from "../../kernel/shown-value.ts";
import { unlessAborted } from "../../kernel/signal.ts";
import { tierOf } from "../../kernel/tool-facts.ts";
import type { Approvals, ApprovalTerms } from "../../middleware/approvals.ts";
import { forbidden, toolOf } from "../../middleware/refusals.ts";
import { repeatedKey } from "../../rpc/repeated-key.ts";
import { member } from "../../rpc/slice.ts";
import type { Store } from "../../store/store.ts";
import { Confirming } from "./confirming.ts";
import { HolderLease, type Holders } from "./holder-lease.ts";
import { isOwnCall, mayDecide } from "./may-decide.ts";
import { reportWaiting } from "./report-waiting.ts";
import { type Ending, type StoredApproval, StoredApprovals } from "./stored-approval.ts";

export interface ApprovalQueueParts {
  readonly store: Store;
  /** Other gateways may use the store at the same time. */
  readonly shared: boolean;
  /** The id of this gateway among those on the store; undefined on an embedded store. */
  readonly replica?: string | undefined;
  readonly holders?: Holders | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly newId: () => string;
  /** The name of an endpoint. */
  readonly endpointName: (uuid: string) => string | undefined;
}

interface WaitingCall {
  readonly principal: string;
  settle(ending: Ending): void;
  fail(error: Error): void;
}

const CLOSE_MS = 1_000;
const MAX_WAITING = 1_000;
const MAX_OF_ONE = 50;
/** Maximum number of kept approvals that ended without a decision. Older ones are removed. */
const MAX_UNDECIDED = 200;
/** What approvers see of the arguments. */
const SHOWN = { most: 65_536, hide: "plain" } as const;

export class ApprovalQueue implements Approvals, ApprovalControl {
  readonly #parts: ApprovalQueueParts;
  readonly #stored: StoredApprovals;
  readonly #lease: HolderLease;
  readonly #confirming: Confirming;
  /** The id of this gateway in approvals. */
  readonly #holder: string;
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #ended: string[] = [];
  readonly #stop: () => void;

  constructor(parts: ApprovalQueueParts) {
    this.#parts = parts;
    const { store } = parts;
    this.#holder = parts.replica ?? randomUUID();
    this.#stored = new StoredApprovals(store);
    this.#lease = new HolderLease({ ...parts, id: this.#holder, needed: () => this.#waiting.size > 0 });
    this.#confirming = new Confirming(this.#stored, this.#lease, parts.clock);
    this.#stop = store.onChange((change) => {
      if (change.of !== "records") return;
      if (change.kind === this.#stored.kind) this.#quietly(this.#stored.load());
      if (change.kind === this.#lease.kind) this.#quietly(this.#lease.load());
    });
  }

  /** Must be called once, before any call waits. */
  async load(): Promise<void> {
    await Promise.all([this.#stored.load(), this.#lease.load()]);
    this.#stored.on((after, before) => this.#changed(after, before));
  }

  async wait(call: Call, terms: ApprovalTerms): Promise<void> {
    const { clock, newId } = this.#parts;
    this.#refuseTooMany(call);
    const uuid = newId();
    const began = clock.now();
    const decided = this.#enqueue(uuid, call);
    const timer = clock.after(terms.withinMs, () => this.#quietly(this.#expire(uuid)));
    const stopTelling = reportWaiting(call, clock);
    const added = this.#add(uuid, call, terms);
    try {
      const ending = await unlessAborted(
        added.then(() => decided),
        call.signal,
      );
      if (ending.state !== "approved") throw refusalOf(call, ending);
      const { decidedBy: by } = ending;
      if (call.trail && by) call.trail.approval = { uuid, by, waitedMs: Math.round(clock.now() - began) };
    } finally {
      timer.cancel();
      stopTelling();
      this.#waiting.delete(uuid);
      if (call.signal.aborted)
        void added.then(
          () => this.#quietly(this.#end(uuid, "withdrawn")),
          () => {},
        );
    }
  }

  list(principal: Principal): readonly Approval[] {
    return [...this.#stored.all].flatMap(([uuid, stored]) =>
      mayDecide(stored, principal) || isOwnCall(stored, principal)
        ? [this.#shown(uuid, stored, principal)]
        : [],
    );
  }

  async decide(
    uuid: string,
    { approve, principal, comment }: Parameters<ApprovalControl["decide"]>[1],
  ): Promise<Approval> {
    const stored = await this.#stored.find(uuid);
    if (!stored) throw new Refusal("not_found", "There is no such call, or it is too old");
    if (!mayDecide(stored, principal)) throw notTheirs(stored, principal);
    if (stored.state !== "waiting" || !(await this.#lease.isAliveNow(stored.holder)))
      throw decidedAlready(stored);
    const ending: Ending = {
      state: approve ? "approved" : "refused",
      decidedAt: new Date().toISOString(),
      decidedBy: actorOf(principal),
      ...(comment !== undefined && { comment }),
    };
    const { done, stored: ended = stored } = await this.#stored.end(uuid, ending);
    if (!done) throw decidedAlready(ended);
    await this.#stored.load();
    if (approve && !(await this.#confirming.isConfirmed(uuid, stored.holder)))
      throw decidedAlready({ ...stored, state: "withdrawn" });
    return this.#shown(uuid, ended, principal);
  }

  /** Another gateway is gone: its calls will not be made. */
  gone(holder: string): void {
    for (const [uuid, stored] of this.#stored.all)
      if (stored.holder === holder && stored.state === "waiting") this.#quietly(this.#stored.withdraw(uuid));
  }

  /** Refuses all waiting calls. */
  async close(): Promise<void> {
    this.#stop();
    const waiting = [...this.#waiting];
    for (const [, parked] of waiting)
      parked.fail(new MetaMcpError("server_unavailable", "MetaMCP is stopping. Nothing was done."));
    this.#waiting.clear();
    const ended = Promise.allSettled(waiting.map(([uuid]) => this.#stored.withdraw(uuid))).then(() =>
      this.#lease.release().catch(() => {}),
    );
    // A store that hangs must not hold the stop. Without its lease the calls of this gateway count as
    // withdrawn soon.
    await isDoneWithin(this.#parts.clock, CLOSE_MS, ended);
  }

  #refuseTooMany(call: Call): void {
    const own = [...this.#waiting.values()].filter(({ principal }) => principal === call.origin.principal.id);
    if (this.#waiting.size >= MAX_WAITING || own.length >= MAX_OF_ONE)
      throw forbidden(
        call,
        "It needs an approval, but too many calls are waiting already. Nothing was done.",
      );
  }

  #enqueue(uuid: string, { origin }: Call): Promise<Ending> {
    const decided = new Promise<Ending>((settle, fail) => {
      this.#waiting.set(uuid, { principal: origin.principal.id, settle, fail });
    });
    // A caller who cancelled does not handle the rejection.
    decided.catch(() => {});
    return decided;
  }

  async #add(uuid: string, call: Call, terms: ApprovalTerms): Promise<void> {
    const stored = this.#approvalOf(call, terms);
    try {
      await this.#lease.hold();
      await this.#stored.add(uuid, stored);
    } catch (error) {
      const text = "It needs an approval, but approvals are not available now. Nothing was done.";
      throw new MetaMcpError("server_unavailable", text, { cause: error });
    }
  }

  #approvalOf(call: Call, { by, withinMs, reason }: ApprovalTerms): StoredApproval {
    const { origin, server, facts, via } = call;
    const args = member(call.params, "arguments") ?? EMPTY_OBJECT;
    const twice = repeatedKey(args);
    // The approver would see one of both values, and the server might use the other.
    if (twice !== undefined) throw forbidden(call, `The arguments contain "${twice.slice(0, 64)}" twice.`);
    const now = Date.now();
    const { key, actor } = origin.principal;
    const endpoint = this.#parts.endpointName(origin.endpoint) ?? origin.endpoint;
    return {
      state: "waiting",
      name: toolOf(call),
      at: new Date(now).toISOString(),
      expiresAt: new Date(now + withinMs).toISOString(),
      endpoint: { uuid: origin.endpoint, name: endpoint },
      principal: { ...actorOf(origin.principal), ...(key && { key }), ...(actor && { actor }) },
      ...(via && { via }),
      server: { uuid: server, name: facts?.server ?? server },
      tool: facts?.name ?? call.tool ?? "",
      ...(facts && { tier: tierOf(facts.annotations) }),
      reason,
      by,
      sealed: this.#parts.store.sealer.seal(JSON.stringify(shownValue(args, SHOWN))),
      holder: this.#holder,
    };
  }

  async #expire(uuid: string): Promise<void> {
    // An approval at the last moment counts. If the store fails, the call expires.
    const ended = await this.#end(uuid, "expired").catch(() => undefined);
    await this.#settle(uuid, ended ?? { state: "expired" });
  }

  async #settle(uuid: string, ending: Ending): Promise<void> {
    const waits = (): boolean => this.#waiting.has(uuid);
    if (!waits()) return;
    const isTaken = ending.state !== "approved" || (await this.#confirming.take(uuid, this.#holder, waits));
    this.#waiting.get(uuid)?.settle(isTaken ? ending : { state: "withdrawn" });
  }

  async #end(uuid: string, state: "expired" | "withdrawn"): Promise<StoredApproval | undefined> {
    const { stored } =
      state === "withdrawn" ? await this.#stored.withdraw(uuid) : await this.#stored.end(uuid, { state });
    this.#ended.push(uuid);
    const old = this.#ended.length > MAX_UNDECIDED ? this.#ended.shift() : undefined;
    if (old !== undefined) await this.#stored.remove(old);
    return stored;
  }

  #changed(after: ReadonlyMap<string, StoredApproval>, before: ReadonlyMap<string, StoredApproval>): void {
    for (const [uuid, stored] of after) {
      if (stored.state === before.get(uuid)?.state) continue;
      if (stored.state !== "waiting") this.#quietly(this.#settle(uuid, stored));
      const { sealed: _, holder: _h, by: _b, taken: _t, ...told } = stored;
      this.#parts.events.emit({ type: "approval", ...told, at: Date.now(), uuid });
    }
  }

  #shown(uuid: string, stored: StoredApproval, principal: Principal): Approval {
    const { sealed, holder, taken: _, ...rest } = stored;
    const gone = stored.state === "waiting" && !this.#lease.isAlive(holder);
    const state = gone ? "withdrawn" : stored.state;
    return {
      uuid,
      ...rest,
      state,
      arguments: JSON.parse(this.#parts.store.sealer.open(sealed)) as unknown,
      decidable: state === "waiting" && mayDecide(stored, principal),
    };
  }

  #quietly(work: Promise<unknown>): void {
    work.catch((error: Error) =>
      this.#parts.log.warn(`approvals: ${error.message}; the last known state stays in use`),
    );
  }
}

function refusalOf(call: Call, { state, comment }: Ending): MetaMcpError {
  const said = comment ? ` (${comment})` : "";
  const why = state === "refused" ? `it was refused${said}. Do not try again` : "nobody approved it in time";
  return forbidden(call, `${toolOf(call)} needs an approval, and ${why}. Nothing was done.`);
}

function notTheirs(stored: StoredApproval, principal: Principal): Refusal {
  return isOwnCall(stored, principal)
    ? new Refusal("not_yours", "you cannot decide about your own call")
    : new Refusal("not_yours", "the policy does not name you as an approver of this call");
}

function decidedAlready({ state, decidedBy }: StoredApproval): Refusal {
  if (state === "approved" || state === "refused")
    return new Refusal("decided", `it was already ${state} by ${decidedBy?.name ?? "somebody"}`);
  const why = state === "expired" ? "its time is up" : "its caller cancelled, or its gateway stopped";
  return new Refusal("decided", `${why}: nothing was done`);
}
