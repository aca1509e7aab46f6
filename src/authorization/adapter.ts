/**
 * Storage adapter of oidc-provider: keeps its data as sealed records of the store, under hashed ids, with
 * expiry.
 */
import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { StoreError } from "../store/error.ts";
import type { NewRecord, Store, StoredRecord } from "../store/store.ts";
import { GRANT, type GrantHolder, type GrantScope, type Grants } from "./grants.ts";
import { machineMetadata } from "./machine-client.ts";
import type { AuthorizationParts } from "./parts.ts";
import type { RecordId } from "./record-id.ts";

export interface AdapterParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly idOf: RecordId;
  readonly grants: Grants;
  readonly machines: AuthorizationParts["machines"];
  /** Uuid of the endpoint at an address that a client named. */
  readonly endpointAt: (resource: string) => string | undefined;
  readonly now: () => number;
}

/** A client that registered itself is deleted after 30 days without use. */
const UNUSED_MS = 30 * 24 * 60 * 60_000;
const CLIENT = "oauth-client";

/** The times in a payload, in seconds. */
const TIMES = ["exp", "iat", "iiat", "loginTs", "authTime", "consumed"] as const;
/** Both ends are rounded. */
const SMALL_S = 2;

/** A grant also has its scope, once it is bound to it. */
interface StoredPayload extends Partial<GrantScope> {
  readonly sealed: string;
}

export function createAdapter(parts: AdapterParts): (model: string) => Adapter {
  return (model) => new RecordAdapter(model, parts);
}

/** Extends the lifetime of a client that got tokens. Writes at most once a day. */
export async function touchClient({ store, idOf, now }: AdapterParts, clientId: string): Promise<void> {
  const record = await store.records.get(CLIENT, idOf("Client", clientId));
  const expiresAt = now() + UNUSED_MS;
  if (!record || expiresAt - (record.expiresAt ?? 0) < 24 * 60 * 60_000) return;
  const { id, value, version } = record;
  await store.records.put({ kind: CLIENT, id, value, expiresAt, ifVersion: version }).catch(() => {});
}

class RecordAdapter implements Adapter {
  readonly #model: string;
  readonly #kind: string;
  readonly #parts: AdapterParts;

  constructor(model: string, parts: AdapterParts) {
    this.#model = model;
    this.#kind = model === "Grant" ? GRANT : `oauth-${model.toLowerCase()}`;
    this.#parts = parts;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const record = this.#record(id, payload, expiresIn);
    const { records } = this.#parts.store;
    if (this.#model !== "ReplayDetection") return void (await records.put(record));
    // Of several requests with the same assertion at once, only one succeeds.
    await records.put({ ...record, ifVersion: 0 }).catch((error: Error) => {
      throw StoreError.is(error, "conflict") ? new errors.InvalidClientAuth("already used") : error;
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const machine = this.#model === "Client" ? this.#parts.machines.machineOf(id) : undefined;
    if (machine) return machineMetadata(id, machine);
    const record = await this.#parts.store.records.get(this.#kind, this.#id(id));
    const payload = record && this.#payload(record);
    if (!payload || !this.#isValid(record, payload)) return undefined;
    return { ...payload, ...(this.#model === "Client" ? {} : { jti: id }) };
  }

  /** A grant ends with its endpoint: it does not open another one that got the name. */
  #isValid({ value }: StoredRecord, { resources }: AdapterPayload): boolean {
    if (this.#kind !== GRANT) return true;
    const { endpoint } = value as StoredPayload;
    const named = Object.keys(resources ?? {});
    return endpoint !== undefined && named.every((resource) => this.#parts.endpointAt(resource) === endpoint);
  }

  /**
   * Used only for sessions. The result has no `jti`, because the id of a session is a cookie that is not
   * stored.
   */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const record = await this.#parts.store.records.find(this.#kind, this.#parts.idOf("uid", uid));
    return record && this.#payload(record);
  }

  /** Part of the device flow, which is disabled. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** If several requests use the same code or token at once, only one succeeds. */
  async consume(id: string): Promise<void> {
    const { store, now } = this.#parts;
    const record = await store.records.get(this.#kind, this.#id(id));
    const payload = record && this.#payload(record);
    if (!record || payload?.consumed) throw new errors.InvalidGrant("already used");
    const consumed = { ...payload, consumed: Math.floor(now() / 1_000) };
    try {
      const { kind, value } = this.#record(id, consumed);
      const { expiresAt, version } = record;
      await store.records.put({
        kind,
        id: record.id,
        value,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ifVersion: version,
      });
    } catch (error) {
      if (StoreError.is(error, "conflict")) throw new errors.InvalidGrant("already used");
      throw error;
    }
  }

  async destroy(id: string): Promise<void> {
    const { grants, store } = this.#parts;
    if (this.#kind === GRANT) await grants.revokeGrant(this.#id(id));
    else await store.records.delete(this.#kind, this.#id(id));
  }

  /**
   * Does nothing: the grant itself is always destroyed too, and its codes and tokens are invalid without it.
   */
  revokeByGrantId(): Promise<void> {
    return Promise.resolve();
  }

  #id(id: string): string {
    return this.#parts.idOf(this.#model, id);
  }

  #record(id: string, payload: AdapterPayload, expiresIn?: number): NewRecord {
    const { store, idOf, now } = this.#parts;
    // The id is the token itself, so it must not be stored.
    const { jti: _, ...rest } = payload;
    const value: StoredPayload = {
      sealed: store.sealer.seal(JSON.stringify(rest)),
      ...this.#holder(payload),
    };
    const lifetime = this.#kind === CLIENT ? UNUSED_MS : expiresIn && expiresIn * 1_000;
    return {
      kind: this.#kind,
      id: this.#id(id),
      value,
      ...(payload.uid === undefined ? {} : { key: idOf("uid", payload.uid) }),
      ...(lifetime === undefined ? {} : { expiresAt: now() + lifetime }),
    };
  }

  /** The fields by which grants are searched. They are stored in plain text. */
  #holder({ accountId, clientId }: AdapterPayload): Partial<GrantHolder> {
    if (this.#kind !== GRANT || !accountId || !clientId) return {};
    return { account: accountId, client: clientId };
  }

  #payload({ value, expiresAt }: StoredRecord): AdapterPayload {
    const { sealed } = value as StoredPayload;
    return inLocalTime(JSON.parse(this.#parts.store.sealer.open(sealed)) as AdapterPayload, expiresAt);
  }
}

/**
 * Times in a payload are those of the process that wrote it, whose clock may be hours off. The store tells
 * when its record expires in the time of this process.
 */
function inLocalTime(payload: AdapterPayload, expiresAt: number | undefined): AdapterPayload {
  const aheadS = Math.round((expiresAt ?? 0) / 1_000) - (payload.exp ?? 0);
  if (expiresAt === undefined || payload.exp === undefined || Math.abs(aheadS) <= SMALL_S) return payload;
  const times = TIMES.filter((name) => typeof payload[name] === "number");
  return { ...payload, ...Object.fromEntries(times.map((name) => [name, Number(payload[name]) + aheadS])) };
}
