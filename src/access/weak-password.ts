/**
 * Rules for new passwords beside their length: what remains without sequences, repetitions and common words
 * must not be too short. Pure.
 */

/** Rows of keyboards, digits and letters. They also count backwards. */
const SEQUENCES = [
  "01234567890",
  "abcdefghijklmnopqrstuvwxyz",
  "qwertyuiop",
  "qwertzuiop",
  "azertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "yxcvbnm",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
].flatMap((row) => [row, row.split("").toReversed().join("")]);

/** The stems of the most common passwords, and what people choose for a gateway. */
const COMMON = [
  "administrator",
  "admin",
  "baseball",
  "changeme",
  "default",
  "dragon",
  "football",
  "gateway",
  "hello",
  "iloveyou",
  "letmein",
  "login",
  "master",
  "metamcp",
  "monkey",
  "passwort",
  "password",
  "princess",
  "secret",
  "shadow",
  "summer",
  "sunshine",
  "superman",
  "trustno",
  "welcome",
  "winter",
];

const LOOKALIKES: Readonly<Record<string, string>> = { "@": "a", "4": "a", "3": "e", "1": "i", "0": "o" };
const SHORTEST_RUN = 4;
const LEAST_DIFFERENT = 4;
const LEAST_REMAINING = 4;
const LONGEST_UNIT = 5;

/** Why a new password is too easy to guess. Undefined if it is not. */
export function weaknessOf(password: string, email: string): string | undefined {
  const text = password.normalize("NFKC").toLowerCase();
  if (new Set(text).size < LEAST_DIFFERENT)
    return "is too easy to guess: it has only a few different characters";
  if (repeatsItself(text)) return "is too easy to guess: it repeats a few characters";
  const [name = ""] = email.toLowerCase().split("@", 1);
  const words = [...COMMON, ...(name.length >= SHORTEST_RUN ? [name] : [])];
  const left = withoutRuns(withoutWords(text, words)).replaceAll(/[\d\p{P}\p{S}\p{Z}]+$/gu, "");
  if (left.length >= LEAST_REMAINING || isRandomDigits(text)) return undefined;
  return "is too easy to guess: it consists of common words, your address, or characters in sequence";
}

function repeatsItself(text: string): boolean {
  return Array.from({ length: LONGEST_UNIT }, (_, at) => text.slice(0, at + 1)).some(
    (unit) => unit.repeat(Math.ceil(text.length / unit.length)).slice(0, text.length) === text,
  );
}

/** Digits that are in no sequence are hard to guess, although no letter remains. */
function isRandomDigits(text: string): boolean {
  const left = withoutRuns(text);
  return /^\d+$/.test(text) && left.length > text.length / 2;
}

function withoutWords(text: string, words: readonly string[]): string {
  const plain = text.replaceAll(/[@4310]/g, (sign) => LOOKALIKES[sign] ?? sign);
  const found = words.find((word) => text.includes(word) || plain.includes(word));
  if (found === undefined) return text;
  const at = text.includes(found) ? text.indexOf(found) : plain.indexOf(found);
  return withoutWords(text.slice(0, at) + text.slice(at + found.length), words);
}

/** Removes sequences, from left to right. */
function withoutRuns(text: string): string {
  let left = "";
  for (let at = 0; at < text.length; ) {
    const run = runAt(text, at);
    if (run === 0) left += text[at];
    at += Math.max(run, 1);
  }
  return left;
}

/** The length of the longest sequence that begins here. 0 if it is too short to count. */
function runAt(text: string, at: number): number {
  let length = SHORTEST_RUN;
  while (at + length <= text.length && SEQUENCES.some((row) => row.includes(text.slice(at, at + length))))
    length += 1;
  return length === SHORTEST_RUN ? 0 : length - 1;
}
