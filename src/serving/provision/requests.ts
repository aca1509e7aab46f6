/**
 * Requests for servers by clients that may not add them. They are in the store until an administrator
 * decides.
 */
import { createHash, randomBytes } from "node:crypto";
import type { ProvisionRequest } from "../../gateway/provisioning-control.ts";
import { uuidV7 } from "../../gateway/uuid.ts";
import type { Actor } from "../../kernel/principal.ts";
import type { Candidate } from "../../provision/candidate.ts";
import { StoreError } from "../../store/error.ts";
import type { Store, StoredRecord } from "../../store/store.ts";

/** The kind of record. */
export const PROVISION_REQUEST = "provision-request";
const MAX_LISTED = 500;

/** A request with the candidate, which is needed to install the server. */
export interface KeptRequest extends ProvisionRequest {
  readonly candidate: Candidate;
}

type Stored = Omit<KeptRequest, "uuid">;

export class ProvisionRequests {
  readonly #records: Store["records"];

  readonly #asked: (request: ProvisionRequest) => void;

  /** `asked` runs when a new request is stored. */
  constructor({ records }: Pick<Store, "records">, asked: (request: ProvisionRequest) => void = () => {}) {
    this.#records = records;
    this.#asked = asked;
  }

  /** Returns the existing request if there is an equal one, in whatever state. */
  async ask(wanted: Omit<Stored, "state" | "at">): Promise<KeptRequest> {
    const key = keyOf(wanted);
    const value: Stored = { ...wanted, state: "pending", at: new Date().toISOString() };
    try {
      const id = uuidV7(Date.now(), randomBytes(10));
      const made = shown(await this.#records.put({ kind: PROVISION_REQUEST, id, key, value, ifVersion: 0 }));
      this.#asked(made);
      return made;
    } catch (error) {
      const there = StoreError.is(error, "taken")
        ? await this.#records.find(PROVISION_REQUEST, key)
        : undefined;
      if (!there) throw error;
      return shown(there);
    }
  }

  /** Oldest first. */
  async list(): Promise<readonly ProvisionRequest[]> {
    const records = await this.#records.list(PROVISION_REQUEST, { limit: MAX_LISTED });
    return records.map(shown).map(withoutCandidate);
  }

  async find(uuid: string): Promise<KeptRequest | undefined> {
    const record = await this.#records.get(PROVISION_REQUEST, uuid);
    return record && shown(record);
  }

  /**
   * Undefined if there is no pending request. An approved request loses its key, so that the server can be
   * requested again after it was removed.
   */
  async decide(
    uuid: string,
    decision: Pick<ProvisionRequest, "state" | "server"> & {
      readonly by: Actor;
      readonly reason?: string | undefined;
    },
  ): Promise<ProvisionRequest | undefined> {
    const record = await this.#records.get(PROVISION_REQUEST, uuid);
    if (!record || shown(record).state !== "pending") return undefined;
    const { key, version } = record;
    const value = { ...(record.value as Stored), ...decision, decidedAt: new Date().toISOString() };
    const kept = decision.state === "refused" && key !== undefined ? { key } : {};
    try {
      const put = { kind: PROVISION_REQUEST, id: uuid, value, ifVersion: version, ...kept };
      return withoutCandidate(shown(await this.#records.put(put)));
    } catch (error) {
      if (StoreError.is(error, "conflict")) return undefined;
      throw error;
    }
  }
}

function withoutCandidate(kept: KeptRequest): ProvisionRequest {
  const { candidate: _, ...request } = kept;
  return request;
}

function shown({ id, value }: StoredRecord): KeptRequest {
  return { uuid: id, ...(value as Stored) };
}

function keyOf({ endpoint, id, entry }: Pick<Stored, "endpoint" | "id" | "entry">): string {
  return createHash("sha256")
    .update(JSON.stringify([endpoint.uuid, id, entry]))
    .digest("base64url");
}
