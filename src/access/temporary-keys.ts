/** Temporary keys that the gateway uses for its own calls, one endpoint each. They exist only in memory of this process. */
import { randomBytes } from "node:crypto";
import type { Principal } from "../kernel/principal.ts";

interface KeyHolder {
  readonly principal: Principal;
  opens(endpoint: string): boolean;
}

export interface TemporaryKey {
  readonly text: string;
  readonly principal: Principal;
  /** Makes the key invalid. */
  end(): void;
}

export class TemporaryKeys {
  readonly #holders = new Map<string, KeyHolder>();

  /** `name` is its purpose, as audit records show it. */
  issue(endpoint: string, name: string): TemporaryKey {
    const text = `pass_${randomBytes(32).toString("base64url")}`;
    const id = `pass ${randomBytes(16).toString("hex")}`;
    const principal: Principal = { id, kind: "key", roles: [], groups: [], name };
    this.#holders.set(text, { principal, opens: (other) => other === endpoint });
    return { text, principal, end: () => void this.#holders.delete(text) };
  }

  holderOf(text: string): KeyHolder | undefined {
    return this.#holders.get(text);
  }
}
