/**
 * The values that references to secrets had in this process, in memory only, so that they are masked in
 * everything that is shown, also after a reload of the config and after a secret has changed.
 */
import { Secret } from "../kernel/secret.ts";

/** Old values of one reference may still appear in the output of a process that was started with them. */
const KEPT = 4;

const seen = new Map<string, readonly Secret[]>();
let changes = 0;

export function rememberSecret(reference: string, value: string): void {
  const before = seen.get(reference) ?? [];
  if (before.some((secret) => secret.reveal() === value)) return;
  seen.set(reference, [new Secret(value), ...before].slice(0, KEPT));
  changes += 1;
}

export function rememberedSecrets(references: readonly string[]): readonly Secret[] {
  return references.flatMap((reference) => seen.get(reference) ?? []);
}

/** Changes whenever a value is added. */
export function secretChanges(): number {
  return changes;
}
