/**
 * Known secrets: a type that cannot be printed by accident, and masks that remove secrets from texts.
 * Guessing secrets is in looks-secret.ts.
 */

/** Shown instead of a secret. */
export const HIDDEN = "[secret]";

/** Shorter values occur in other texts by chance, so they are not masked. */
export const SHORTEST_SECRET = 6;

/** Prints as `[secret]` in strings, logs and JSON. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Call it only to send the value to the server it belongs to. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return HIDDEN;
  }
}

export type Secrets = Readonly<Record<string, Secret>>;

export function secretsFrom(values: Readonly<Record<string, string>>): Secrets {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
}

export function revealed(secrets: Secrets): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}

export type Mask = (text: string) => string;

/**
 * Makes a function that masks these values in a text: also single lines of a value, a credential without its
 * scheme, and all of them in base64.
 */
export function maskOf(secrets: Iterable<Secret | string>): Mask {
  const parts = needlesOf(secrets);
  if (parts.length === 0) return (text) => text;
  return (text) => parts.reduce((shown, part) => shown.replaceAll(part, HIDDEN), text);
}

/**
 * The texts that must not be shown, for these values. Longer ones come first, because they may contain
 * shorter ones.
 */
export function needlesOf(secrets: Iterable<Secret | string>): readonly string[] {
  const all = Array.from(secrets, (secret) => (typeof secret === "string" ? secret : secret.reveal()));
  const parts = all.flatMap((value) => [
    value,
    ...value.split(/\r?\n/),
    value.replace(/^(?:bearer|basic|token) +/i, ""),
  ]);
  const long = new Set(parts.map((part) => part.trim()).filter((part) => part.length >= SHORTEST_SECRET));
  // Also as written in JSON, in a URL, and in base64 as in basic authentication.
  const written = [...long].flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encoded(part),
    ...inBase64(part),
  ]);
  return [...new Set(written)].toSorted((a, b) => b.length - a.length);
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The value in base64 for each of the three possible alignments, without characters that contain bits of
 * neighbours.
 */
function inBase64(text: string): readonly string[] {
  const all = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(before && before + 1, Math.floor((bytes.length * 8) / 6));
  });
  return all.flatMap((letters) => [letters, letters.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** Masks message and stack of the error in place. */
export function maskError(error: unknown, mask: Mask): void {
  if (!(error instanceof Error)) return;
  const shown = mask(error.message);
  if (shown === error.message) return;
  error.message = shown;
  if (error.stack !== undefined) error.stack = mask(error.stack);
}
