/**
 * Approvals in the store. The store makes sure that each is decided once, whichever gateway the call waits
 * at.
 */
import { Mirror } from "../../access/mirror.ts";
import type { Approval } from "../../gateway/approval-control.ts";
import { StoreError } from "../../store/error.ts";
import type { Store, StoredRecord } from "../../store/store.ts";

/** The kind of record. */
export const APPROVAL = "approval";
/** How long decided approvals are kept. The audit log keeps them longer. */
const DECIDED_FOR_MS = 7 * 86_400_000;
const ENDED_FOR_MS = 3_600_000;
/**
 * Waiting approvals expire in the store this long after their time limit, if no gateway is left that ends
 * them. Long, because the clocks of gateways differ.
 */
const LATE_MS = 86_400_000;

export interface StoredApproval extends Omit<Approval, "uuid" | "arguments" | "decidable"> {
  /** The JSON of the arguments, encrypted. */
  readonly sealed: string;
  /** The gateway that it waits at. */
  readonly holder: string;
  /** The gateway that it waits at has got the approval, and makes the call. */
  readonly taken?: true;
}

export type Ending = Pick<StoredApproval, "state" | "decidedAt" | "decidedBy" | "comment">;

interface Ended {
  readonly done: boolean;
  readonly stored: StoredApproval | undefined;
}

export class StoredApprovals {
  readonly #records: Store["records"];
  readonly #mirror: Mirror<StoredApproval>;

  constructor(store: Pick<Store, "records">) {
    this.#records = store.records;
    this.#mirror = new Mirror(store, APPROVAL);
  }

  readonly kind = APPROVAL;

  /** By uuid, as last read. */
  get all(): ReadonlyMap<string, StoredApproval> {
    return this.#mirror.values;
  }

  on(listener: Parameters<Mirror<StoredApproval>["on"]>[0]): () => void {
    return this.#mirror.on(listener);
  }

  /** Resolves when they were read again. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#mirror.on(() => {
        stop();
        resolve();
      });
    });
  }

  load(): Promise<void> {
    return this.#mirror.load();
  }

  async find(uuid: string): Promise<StoredApproval | undefined> {
    return approvalIn(await this.#records.get(APPROVAL, uuid));
  }

  async add(uuid: string, value: StoredApproval): Promise<void> {
    const expiresAt = Date.parse(value.expiresAt) + LATE_MS;
    await this.#records.put({ kind: APPROVAL, id: uuid, value, ifVersion: 0, expiresAt });
  }

  /**
   * Ends a waiting approval, once. If `done` is false, it had ended before and `stored` says how; `stored` is
   * undefined if there is none.
   */
  async end(uuid: string, ending: Ending): Promise<Ended> {
    const stays = ending.decidedBy ? DECIDED_FOR_MS : ENDED_FOR_MS;
    return await this.#change(uuid, ({ state }) => state === "waiting", ending, stays);
  }

  /** Confirms an approval at the gateway that makes the call. `done` is false if it was withdrawn. */
  async take(uuid: string): Promise<boolean> {
    const approved = ({ state, taken }: StoredApproval): boolean => state === "approved" && !taken;
    const { done, stored } = await this.#change(uuid, approved, { taken: true }, DECIDED_FOR_MS);
    return done || (stored?.state === "approved" && stored.taken === true);
  }

  /** Ends it, unless it was refused or is being made. */
  async withdraw(uuid: string): Promise<Ended> {
    const ended = await this.end(uuid, { state: "withdrawn" });
    return ended.done ? ended : await this.takeBack(uuid);
  }

  /** Takes back an approval that nobody confirmed. */
  async takeBack(uuid: string): Promise<Ended> {
    const untaken = ({ state, taken }: StoredApproval): boolean => state === "approved" && !taken;
    return await this.#change(uuid, untaken, { state: "withdrawn" }, ENDED_FOR_MS);
  }

  async #change(
    uuid: string,
    applies: (stored: StoredApproval) => boolean,
    change: Partial<StoredApproval>,
    stays: number,
  ): Promise<Ended> {
    for (;;) {
      const record = await this.#records.get(APPROVAL, uuid);
      const value = approvalIn(record);
      if (!record || !value || !applies(value)) return { done: false, stored: value };
      const stored: StoredApproval = { ...value, ...change };
      const expiresAt = Date.now() + stays;
      try {
        const { version: ifVersion } = record;
        await this.#records.put({ kind: APPROVAL, id: uuid, value: stored, ifVersion, expiresAt });
        return { done: true, stored };
      } catch (error) {
        if (!StoreError.is(error, "conflict")) throw error;
      }
    }
  }

  async remove(uuid: string): Promise<void> {
    await this.#records.delete(APPROVAL, uuid);
  }
}

function approvalIn(record: StoredRecord | undefined): StoredApproval | undefined {
  return record?.value as StoredApproval | undefined;
}
