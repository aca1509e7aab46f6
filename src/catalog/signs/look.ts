/**
 * What a text looks like: the same for texts that a person can hardly tell apart. Lower case, without
 * invisible characters, accents kept, letters of other scripts that look Latin as Latin ones.
 */
const UNSEEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}|\u2800/gu;

/** Cyrillic, Greek, Armenian and other letters, each with the Latin one that it looks like. */
const LATIN_OF = new Map(
  Object.entries({
    а: "a",
    е: "e",
    о: "o",
    р: "p",
    с: "c",
    у: "y",
    х: "x",
    і: "i",
    ј: "j",
    ѕ: "s",
    һ: "h",
    ԁ: "d",
    ԛ: "q",
    ԝ: "w",
    ь: "b",
    к: "k",
    м: "m",
    т: "t",
    н: "h",
    в: "b",
    г: "r",
    п: "n",
    ӏ: "l",
    ү: "y",
    ё: "e",
    α: "a",
    β: "b",
    ε: "e",
    ι: "i",
    κ: "k",
    ν: "v",
    ο: "o",
    ρ: "p",
    τ: "t",
    υ: "u",
    χ: "x",
    γ: "y",
    η: "n",
    ω: "w",
    ϲ: "c",
    ϳ: "j",
    օ: "o",
    ս: "u",
    ո: "n",
    հ: "h",
    ց: "g",
    զ: "q",
    լ: "l",
    ı: "i",
    ɑ: "a",
    ɡ: "g",
    ɩ: "i",
    ʏ: "y",
    ᴄ: "c",
    ᴏ: "o",
    ᴜ: "u",
    ᴠ: "v",
    ᴡ: "w",
    ᴢ: "z",
    ꜱ: "s",
  }),
);

const LATIN = /\p{Script=Latin}/u;

/** A word of another script is left as it is: only one with Latin letters can pretend to be Latin. */
export function lookOf(text: string): string {
  const plain = text.normalize("NFKC").replaceAll(UNSEEN, "").toLowerCase();
  if (!LATIN.test(plain)) return plain;
  return Array.from(plain, (letter) => LATIN_OF.get(letter) ?? letter).join("");
}

const DIGITS: Readonly<Record<string, string>> = { "0": "o", "1": "l", "5": "s" };

/** What a name looks like: also without the difference of 0 and o, 1 and l, - and _. */
export function lookOfName(name: string): string {
  const folded = Array.from(name.normalize("NFKC").replaceAll(UNSEEN, "").toLowerCase(), (letter) => {
    const latin = LATIN_OF.get(letter) ?? letter;
    return DIGITS[latin] ?? latin;
  });
  return folded.join("").replaceAll("-", "_");
}
