/** What is secret, as a type: a value that cannot be printed by accident, and the way to take such values out of a text. What merely looks like one is looks-secret.ts. */

/** Stands in place of a secret wherever something is shown. */
export const HIDDEN = "[secret]";

/** Shorter ones stand in every other text by chance. */
export const SHORTEST_SECRET = 6;

/** However it is printed, joined, logged or written as JSON, `[secret]` comes out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** For whoever hands it to the server it belongs to. */
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

/** Takes these values out of a text, each line of a longer one too, a header's credential without its scheme, and all of it in base64. */
export function maskOf(secrets: Iterable<Secret | string>): Mask {
  const parts = needlesOf(secrets);
  if (parts.length === 0) return (text) => text;
  return (text) => parts.reduce((shown, part) => shown.replaceAll(part, HIDDEN), text);
}

/** What must not be shown of these values; one that contains another comes first. */
export function needlesOf(secrets: Iterable<Secret | string>): readonly string[] {
  const all = Array.from(secrets, (secret) => (typeof secret === "string" ? secret : secret.reveal()));
  const parts = all.flatMap((value) => [
    value,
    ...value.split(/\r?\n/),
    value.replace(/^(?:bearer|basic|token) +/i, ""),
  ]);
  const long = new Set(parts.map((part) => part.trim()).filter((part) => part.length >= SHORTEST_SECRET));
  // As it stands inside JSON, an address or a basic login too.
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

/** Wherever it begins: three bytes make four letters, and those that hold bits of others are left out. */
function inBase64(text: string): readonly string[] {
  const all = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(before && before + 1, Math.floor((bytes.length * 8) / 6));
  });
  return all.flatMap((letters) => [letters, letters.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** Its text and its stack, in place: whoever holds the error shows nothing else afterwards. */
export function maskError(error: unknown, mask: Mask): void {
  if (!(error instanceof Error)) return;
  const shown = mask(error.message);
  if (shown === error.message) return;
  error.message = shown;
  if (error.stack !== undefined) error.stack = mask(error.stack);
}
