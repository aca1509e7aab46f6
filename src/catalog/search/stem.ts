/**
 * Porter's stemmer with exceptions: "news" is not "new", "policy" is not "police". English only; other words
 * pass unchanged.
 */

/**
 * Groups of words with the same stem: the text after "=", or else the first word. The rules would merge some
 * of them with other words, or not with each other.
 */
const GROUPS =
  "news|general generally|generic generics|generate generates generated generating generation generator generators=generat|" +
  "university universities=univers|universe|universal|organization organizations organisation organize organized organizing=organiz|" +
  "organ organs|international|internal internally|intern interns|policy policies|police|important importance|" +
  "import imports imported importing|animal animals|animate animation animations animated=animat|community communities|" +
  "communicate communication communications=communic|author authors|authority authorities|" +
  "authorize authorization authorized authorise authorisation=authoriz|execute executes executed executing execution=execut|" +
  "executive executives|business businesses|busy|past|paste pasted pasting|customer customers|custom customs|opera operas|" +
  "operate operates operation operations operator operators=operat|process processes processed processing|address addresses|" +
  "access|series|status|analysis analyses analyze analyse analyzing analyzed analyzer analytics analytical=analyz|data|media|" +
  "photo photos photograph photographs photography=photo|child children|person people persons|index indices indexes|" +
  "matrix matrices|currency currencies|current currently|several|server servers|serve serves served|service services|" +
  "numeric numerical=numer|number numbers|pixel pixels|lens|bus buses|gas|canvas|atlas|sms|dns|aws|css|https|gps|ios|kubernetes|" +
  "sport sports|search searches searched searching|fetch fetches fetched fetching|movie movies|cookie cookies|secret secrets|" +
  "secretary|station stations|stationary|state states|statement statements|static|statistic statistics statistical stats stat=statist|" +
  "relative relatives|relate related relation relations relationship relationships=relat|event events|eventual eventually|" +
  "port ports|portal|portfolio portfolios|mess|temperature temperatures|temperate|" +
  "database databases db dbs|directory directories dir dirs|repository repositories repo repos|environment environments env envs|" +
  "image images img imgs pic pics|message messages messaging msg msgs=messag|configuration configurations configure configured config configs cfg=configur|" +
  "information info=inform|application applications app apps=applic|library libraries lib libs|package packages pkg pkgs|document documents documentation doc docs|" +
  "template templates=templat|contest contests|context contexts|ration|rate rates rated rating ratings|ratio ratios|weather|whether";

const EXCEPTIONS = new Map<string, string>(
  GROUPS.split("|").flatMap((group) => {
    const [list = "", given] = group.split("=");
    const members = list.split(" ");
    const stem = given ?? members[0] ?? "";
    return members.map((word): [string, string] => [word, stem]);
  }),
);

const STEP2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["abli", "able"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];
const STEP3: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
/** Longest first, because the first suffix that fits decides. */
const STEP4 = "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split(" ");
const ENGLISH = /^[a-z]+$/;

/** Cache, because the same words come again and again. Cleared when it is full. */
const stems = new Map<string, string>();
const MAX_CACHED = 10_000;
/** In V8 a substring longer than this keeps the whole text in memory, so longer words are not cached. */
const MAX_CACHED_LENGTH = 12;

export function stem(word: string): string {
  const known = EXCEPTIONS.get(word) ?? stems.get(word);
  if (known !== undefined) return known;
  const root = word.length > 2 && ENGLISH.test(word) ? porter(word) : word;
  if (word.length > MAX_CACHED_LENGTH) return root;
  if (stems.size >= MAX_CACHED) stems.clear();
  stems.set(word, root);
  return root;
}

function porter(word: string): string {
  let w = pastAndGerund(plural(word));
  if (w.endsWith("y") && hasVowel(w, w.length - 1)) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, STEP2);
  w = replaceSuffix(w, STEP3);
  w = dropSuffix(w);
  if (w.endsWith("e")) {
    const bare = w.slice(0, -1);
    const m = measure(bare);
    if (m > 1 || (m === 1 && !endsShort(bare))) w = bare;
  }
  return w.endsWith("ll") && measure(w) > 1 ? w.slice(0, -1) : w;
}

function plural(w: string): string {
  if (w.endsWith("sses") || w.endsWith("ies")) return w.slice(0, -2);
  return w.endsWith("s") && !w.endsWith("ss") ? w.slice(0, -1) : w;
}

function pastAndGerund(w: string): string {
  if (w.endsWith("eed")) return measure(w.slice(0, -3)) > 0 ? w.slice(0, -1) : w;
  const cut = w.endsWith("ed") ? 2 : w.endsWith("ing") ? 3 : 0;
  if (cut === 0 || !hasVowel(w, w.length - cut)) return w;
  const bare = w.slice(0, -cut);
  if (bare.endsWith("at") || bare.endsWith("bl") || bare.endsWith("iz")) return `${bare}e`;
  const last = bare.at(-1) ?? "";
  if (endsDouble(bare) && !"lsz".includes(last)) return bare.slice(0, -1);
  return measure(bare) === 1 && endsShort(bare) ? `${bare}e` : bare;
}

function replaceSuffix(w: string, rules: readonly (readonly [string, string])[]): string {
  for (const [suffix, by] of rules) {
    if (!w.endsWith(suffix)) continue;
    const bare = w.slice(0, -suffix.length);
    return measure(bare) > 0 ? bare + by : w;
  }
  return w;
}

function dropSuffix(w: string): string {
  for (const suffix of STEP4) {
    if (!w.endsWith(suffix)) continue;
    const bare = w.slice(0, -suffix.length);
    if (suffix === "ion" && !bare.endsWith("s") && !bare.endsWith("t")) return w;
    return measure(bare) > 1 ? bare : w;
  }
  return w;
}

function consonant(w: string, i: number): boolean {
  const c = w.charCodeAt(i);
  if (c === 97 || c === 101 || c === 105 || c === 111 || c === 117) return false;
  return c === 121 && i > 0 ? !consonant(w, i - 1) : true;
}

/** How often a vowel group is followed by a consonant group. */
function measure(w: string): number {
  let count = 0;
  let vowelBefore = false;
  for (let i = 0; i < w.length; i++) {
    const isConsonant = consonant(w, i);
    if (isConsonant && vowelBefore) count++;
    vowelBefore = !isConsonant;
  }
  return count;
}

function hasVowel(w: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (!consonant(w, i)) return true;
  return false;
}

function endsDouble(w: string): boolean {
  return w.length > 1 && w.at(-1) === w.at(-2) && consonant(w, w.length - 1);
}

/** Consonant, vowel, consonant other than w, x, y. */
function endsShort(w: string): boolean {
  const n = w.length;
  if (n < 3 || "wxy".includes(w.charAt(n - 1))) return false;
  return consonant(w, n - 3) && !consonant(w, n - 2) && consonant(w, n - 1);
}
