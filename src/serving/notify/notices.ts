/**
 * Tells webhooks what waits for people. Each message is a record in the store: whoever creates it sends it,
 * so several gateways send it once, and a restart forgets none.
 */
import { createHash } from "node:crypto";
import { allRecords } from "../../access/mirror.ts";
import type { Delivery, NotifyControl } from "../../gateway/notify-control.ts";
import type { StoredWebhook } from "../../gateway/objects.ts";
import type { NotifyEvent } from "../../gateway/schemas.ts";
import { opened, type Vault } from "../../gateway/secrets.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import type { Store, StoredRecord } from "../../store/store.ts";
import { type Message, sendWebhook } from "./send-webhook.ts";

export interface Fact {
  /** The same at each gateway that learns of the fact. */
  readonly id: string;
  readonly event: NotifyEvent;
  readonly text: string;
  /** Below the address of the gateway. */
  readonly path: string;
  readonly object: Message["object"];
}

export interface NoticesParts {
  readonly store: Pick<Store, "records">;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly time: () => number;
  readonly log: Log;
  readonly webhooks: () => readonly StoredWebhook[];
  readonly vault: Pick<Vault, "open">;
  /** The address of the gateway for links. */
  readonly url: () => string;
}

interface Stored extends Omit<Delivery, "nextAt"> {
  readonly message: Message;
}

/** The kind of record. */
const NOTICE = "notice";
/** After its next attempt was due. */
const KEPT_MS = 7 * 86_400_000;
/** After the first attempt. After the last one the message has failed. */
const RETRIES_MS = [10_000, 60_000, 300_000, 1_800_000] as const;
/** A message that is this late lost its gateway. Longer than an attempt takes. */
const LATE_MS = 30_000;
const SWEEP_MS = 60_000;
const MAX_LISTED = 500;

export class Notices implements NotifyControl {
  readonly #parts: NoticesParts;
  readonly #timers = new Set<Timer>();
  #closed = false;

  constructor(parts: NoticesParts) {
    this.#parts = parts;
    this.#after(SWEEP_MS, () => this.#sweep());
  }

  /** Sends it to each webhook that wants such events, unless another gateway does. */
  tell(fact: Fact): void {
    for (const webhook of this.#parts.webhooks())
      if (webhook.events.includes(fact.event)) this.#quietly(this.#begin(webhook, fact));
  }

  async deliveries(): Promise<readonly Delivery[]> {
    const records = await allRecords(this.#parts.store, NOTICE);
    return records
      .map(shown)
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, MAX_LISTED);
  }

  async try(name: string): ReturnType<NotifyControl["try"]> {
    const webhook = this.#parts.webhooks().find((one) => one.name === name);
    if (!webhook) return undefined;
    try {
      await this.#send(webhook, {
        id: `try ${Date.now()}`,
        event: "test",
        at: new Date().toISOString(),
        text: "A test message of MetaMCP. Nothing waits for you.",
        link: `${this.#parts.url()}/settings`,
        object: { kind: "webhook", name },
      });
      return { sent: true };
    } catch (error) {
      return { sent: false, reason: (error as Error).message };
    }
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
  }

  async #begin({ name }: StoredWebhook, fact: Fact): Promise<void> {
    const { id: about, event, text, path, object } = fact;
    const id = createHash("sha256").update(`${name}\n${event}\n${about}`).digest("hex");
    const at = new Date().toISOString();
    const message = { id, event, at, text, link: this.#parts.url() + path, object };
    const value: Stored = { webhook: name, event, text, at, state: "waiting", attempts: 0, message };
    const record = await this.#put({ id, value, ifVersion: 0 });
    if (record) await this.#attempt(record);
  }

  /** Undefined if another gateway wrote it first. `waitMs`: until the next attempt. */
  async #put(
    record: { id: string; value: Stored; ifVersion: number },
    waitMs = 0,
  ): Promise<StoredRecord | undefined> {
    try {
      const expiresAt = this.#parts.time() + waitMs + KEPT_MS;
      return await this.#parts.store.records.put({ kind: NOTICE, expiresAt, ...record });
    } catch (error) {
      if (StoreError.is(error, "conflict")) return undefined;
      throw error;
    }
  }

  async #attempt({ id, value, version }: StoredRecord): Promise<void> {
    const stored = value as Stored;
    const webhook = this.#parts.webhooks().find(({ name }) => name === stored.webhook);
    const attempts = stored.attempts + 1;
    const { reason: _, ...before } = stored;
    try {
      if (!webhook) throw new Error("the webhook was removed");
      await this.#send(webhook, stored.message);
      await this.#put({ id, value: { ...before, state: "sent", attempts }, ifVersion: version });
    } catch (error) {
      if (this.#closed) return;
      const wait = webhook && RETRIES_MS[stored.attempts];
      const reason = (error as Error).message.slice(0, 300);
      const next: Stored = {
        ...before,
        attempts,
        reason,
        state: wait === undefined ? "failed" : "waiting",
      };
      const record = await this.#put({ id, value: next, ifVersion: version }, wait);
      if (wait === undefined) this.#parts.log.warn(`webhook "${stored.webhook}": ${reason}; given up`);
      else if (record) this.#after(wait, () => this.#attempt(record));
    }
  }

  async #send({ url, secret, format, allowPrivate }: StoredWebhook, message: Message): Promise<void> {
    const { vault } = this.#parts;
    await sendWebhook(
      {
        url: vault.open(url),
        format,
        allowPrivate,
        secret: secret === undefined ? undefined : opened(secret, vault),
      },
      message,
      Date.now(),
    );
  }

  /** Takes over messages whose gateway is gone. */
  async #sweep(): Promise<void> {
    this.#after(SWEEP_MS, () => this.#sweep());
    if (this.#parts.webhooks().length === 0) return;
    for (const record of await allRecords(this.#parts.store, NOTICE)) {
      const value = record.value as Stored;
      if (value.state !== "waiting" || dueAt(record) > this.#parts.time() - LATE_MS) continue;
      const { id, version } = record;
      const taken = await this.#put({ id, value, ifVersion: version });
      if (taken) await this.#attempt(taken);
    }
  }

  #after(ms: number, run: () => Promise<void>): void {
    if (this.#closed) return;
    const timer = this.#parts.clock.after(ms, () => {
      this.#timers.delete(timer);
      this.#quietly(run());
    });
    this.#timers.add(timer);
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: Error) => {
      if (!this.#closed) this.#parts.log.warn(`webhooks: ${error.message}`);
    });
  }
}

function shown(record: StoredRecord): Delivery {
  const { message: _, ...delivery } = record.value as Stored;
  return delivery.state === "waiting"
    ? { ...delivery, nextAt: new Date(dueAt(record)).toISOString() }
    : delivery;
}

/**
 * When its next attempt is due. The store tells when a record expires in the time of this process, while a
 * time in its value would be that of another one, whose clock may be hours off.
 */
function dueAt({ expiresAt = 0 }: StoredRecord): number {
  return expiresAt - KEPT_MS;
}
