/** Texts that tell the model what to do with tools of other servers, or with every other tool. */
import { PhraseTable, phrasesOf } from "./phrase.ts";
import type { Found, SignContext } from "./sign.ts";
import type { Word } from "./words.ts";

const groups = {
  MUST: "must|always|should|never|have|need",
  USE: "use|using|used|call|calling|called|invoke|invoking|invoked|run|running|execute|executing",
  CHANGE: "set|add|append|change|replace|insert|put|include|pass|prepend|modify|route|redirect",
  BAD: "deprecated|insecure|broken|unsafe|obsolete|bug",
  TOOL: "tool|tools|werkzeug|werkzeuge|outil|outils|herramienta|herramientas|ferramenta|strumento|工具",
};

/** Names of other servers and of their tools are replaced by these, which no word of a text can be. */
const OTHER = "<tool>";
const SERVER = "<server>";

const NAMED = new PhraseTable([
  ...phrasesOf(
    "hard",
    [
      `when|whenever|if|before|after|each|every <8> ${OTHER} <<20>> always|must|never <8> CHANGE|call`,
      `when|whenever|if <8> ${OTHER} <<12>> CHANGE <8> recipient|bcc|body|token|contents|argument|arguments|parameter|label|content`,
      `instead of <3> ${OTHER} <6> always`,
      `replaces|replace <1> ${OTHER} <<12>> BAD|never`,
      `not|never|dont USE <4> ${OTHER} <<10>> BAD|instead|use`,
      `${OTHER} <<14>> BAD <<12>> USE|set`,
      `affects <2> ${OTHER}`,
      `wenn|bevor|falls <6> ${OTHER} <12> immer|musst|stets|setze`,
      `quand|avant|lorsque <6> ${OTHER} <12> toujours|remplace|remplacez|appelle`,
      `cuando|antes <6> ${OTHER} <12> siempre|debes|cambia`,
    ],
    { groups },
  ),
  ...phrasesOf(
    "soft",
    [`when|whenever|if|before|after|instead|not|never <8> ${OTHER}`, `${OTHER} <<12>> BAD`],
    {
      groups,
    },
  ),
]);

const ANY = new PhraseTable([
  ...phrasesOf(
    "hard",
    [
      "before|after <3> any|every|each|all <1> other TOOL <20> full|complete|whole <2> arguments|result|content|contents|call",
      "before|after <3> any|every|each|all <1> other TOOL <12> the arguments <2> you|of",
      "result|results|output|outputs|arguments <2> other TOOL <3> must|should|always|need <6> passed|sent|given|forwarded|routed|piped",
      "when|whenever|if|before|after|each|every <5> TOOL <2> other|another|different server|servers <<12>> CHANGE|copy|send|forward",
      "pass|send|give <3> result|results|output|outputs|arguments <2> every|any|each|all <1> other TOOL",
      "after <3> call|use <2> any|every|each other TOOL <12> call|pass|send <10> result",
      `not|never USE <2> tools of the <1> ${SERVER} server`,
    ],
    { groups, tests: { server: (word) => word.startsWith(SERVER) } },
  ),
  ...phrasesOf(
    "soft",
    [
      "before|after|instead <4> any|every|each|all <1> other TOOL",
      "must|always <4> call|use <3> this <2> before|after|first",
      "dont|not|never USE <1> any other TOOL",
      `not|never USE <2> tools of <1> ${SERVER}`,
    ],
    { groups, tests: { server: (word) => word.startsWith(SERVER) } },
  ),
]);

/** Chinese texts name a tool between blanks. */
const CHINESE_ORDER = /必须|一定要|总是|始终|不要/;
const CHINESE_AROUND = 40;
/** Short names without a mark between words are words of the language, such as `search`. */
const DISTINCT = /[_-]|[a-z][A-Z]|.{14}/;

export function otherTools(text: string, words: readonly Word[], context: SignContext): readonly Found[] {
  const named = withOthers(words, context);
  const found = [
    ...(named ? NAMED.find(named) : []),
    ...ANY.find(named ?? words),
    ...chinese(text, named ?? []),
  ];
  return found.map((one) => ({ sign: "other-tools", ...one }));
}

/** The words with the names of others marked; undefined if there are none. */
function withOthers(
  words: readonly Word[],
  { own, tools, servers }: SignContext,
): readonly Word[] | undefined {
  let any = false;
  const marked = words.map((word) => {
    const name = word.text;
    const isTool = tools.has(name) && !own.has(name) && DISTINCT.test(name);
    if (!isTool && !servers.has(name)) return word;
    any = true;
    return { ...word, text: isTool ? OTHER : SERVER };
  });
  return any ? marked : undefined;
}

function chinese(text: string, words: readonly Word[]) {
  return words.flatMap(({ text: word, start, end }) => {
    if (word !== OTHER || !CHINESE_ORDER.test(text.slice(end, end + CHINESE_AROUND))) return [];
    return [{ severity: "hard", start, end } as const];
  });
}
