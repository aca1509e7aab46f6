/** What a person typed at a login, for the log and the audit log. Never contains a password. */
import type { TriedLogin } from "../kernel/events.ts";
import { visible } from "../kernel/visible.ts";

const ADDRESS = /^[^\s@]+@[^\s@]+$/;
const MAX_CHARACTERS = 254;

/** Undefined if the text is not an address: people sometimes type their password into the wrong field. */
export function typedAddress(text: string): TriedLogin | undefined {
  return ADDRESS.test(text) && text.length <= MAX_CHARACTERS ? { email: visible(text) } : undefined;
}
