/** Random JSON texts from a seed, with every kind of token, space and escape, for tests of parsers. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ n < below. */
  int(below: number): number {
    // Mulberry32.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  }

  chance(oneIn: number): boolean {
    return this.int(oneIn) === 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)] as T;
  }
}

const NUMBERS = ["0", "-0", "1", "-7", "1.0", "12.50", "1e400", "1E-7", "2e+3", "9007199254740993", "-0.0e0"];
const TEXT = [
  "a",
  "Z",
  " ",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "'",
  "/",
  "\u007f",
  "é",
  "ж",
  "語",
  "😀",
  "\u2028",
];
const ESCAPES = [
  '\\"',
  "\\\\",
  "\\/",
  "\\b",
  "\\f",
  "\\n",
  "\\r",
  "\\t",
  "\\u0041",
  "\\ud83d\\ude00",
  "\\ud800",
  "\\uDBff",
];
const KEYS = ["id", "a", "result", "__proto__", "x y", "", "10", "2", "ключ", "method", "\\u0069d"];

export function randomSpace(random: Random): string {
  return random.chance(6) ? random.pick([" ", "  ", "\t", " \t "]) : "";
}

export function randomString(random: Random): string {
  let text = "";
  const escapes = random.pick([2, 8, 40]);
  const length = random.chance(12) ? random.int(400) : random.int(30);
  for (let i = 0; i < length; i++) text += random.chance(escapes) ? random.pick(ESCAPES) : random.pick(TEXT);
  return `"${text}"`;
}

export function randomJson(random: Random, depth = 4): string {
  const kind = random.int(depth > 0 ? 8 : 5);
  if (kind < 2) return randomString(random);
  if (kind < 4) return random.pick(NUMBERS);
  if (kind < 5) return random.pick(["true", "false", "null"]);
  const parts: string[] = [];
  for (let n = random.int(5); n > 0; n--) {
    const key = kind < 7 ? `"${random.pick(KEYS)}"${randomSpace(random)}:` : "";
    parts.push(
      `${randomSpace(random)}${key}${randomSpace(random)}${randomJson(random, depth - 1)}${randomSpace(random)}`,
    );
  }
  const inside = parts.length > 0 ? parts.join(",") : randomSpace(random);
  return kind < 7 ? `{${inside}}` : `[${inside}]`;
}

/** Changes the bytes at random. The result may still be valid. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  const at = random.int(bytes.length + 1);
  const noise = Buffer.from([
    random.pick([
      0x00,
      0x0a,
      0x0d,
      0x1f,
      0x20,
      0x22,
      0x2c,
      0x5c,
      0x7b,
      0x7d,
      0x5d,
      0x30,
      0x80,
      0xff,
      random.int(256),
    ]),
  ]);
  switch (random.int(5)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + 1)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
    case 3:
      return bytes.subarray(0, at);
    default: {
      const to = at + random.int(bytes.length - at + 1);
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    }
  }
}
