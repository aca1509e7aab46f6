/** Texts that ask to set earlier instructions aside, or that pretend to be instructions of the system. */
import { type FragmentPhrase, findFragments, fragmentsOf } from "./fragments.ts";
import { PhraseTable, phrasesOf } from "./phrase.ts";
import type { Found } from "./sign.ts";
import type { Word } from "./words.ts";

const groups = {
  IGNORE: "ignore|disregard|forget|bypass|discard|ignoring|disregarding",
  EARLIER: "previous|prior|earlier|preceding|existing|former|original",
  ORDERS: "instruction|instructions|guideline|guidelines|directive|directives|prompt|prompts",
  IGNORIERE: "ignorier*|vergiss|vergesse|missachte*",
};

const TABLE = new PhraseTable([
  ...phrasesOf(
    "hard",
    [
      "IGNORE <3> EARLIER <3> ORDERS|rules",
      "IGNORE <1> your <2> ORDERS|rules",
      "IGNORE <2> system <1> ORDERS",
      "IGNORE <1> all <2> the above",
      "IGNORE <1> everything <3> told|above|before|said",
      "must|should|do not <1> follow|obey <1> the users|user <1> instructions",
      "you are <1> now in|a|an <3> developer|admin|administrator|unrestricted|god <1> mode",
      "you are now <8> without <2> restrictions|limits|limitations|rules",
      "safety|security rules|guidelines|filters <2> not apply",
      "overrid* <2> your <2> safety|security <1> rules|guidelines|policies",
      "bypass <3> safety|security <1> rules|guidelines|policies|filters|checks",
      "grant <2> every|all <1> permission|permissions <2> asking",
      "prefix every|all|each <2> command|commands <2> with",
      "IGNORIERE <2> vorherig*|bisherig*|frühere*|vorangegangen*|obig* <1> anweisung*|instruktion*|regel*",
      "IGNORIERE <1> deine <2> anweisung*|instruktion*",
      "ignor*|oubli* <2> instructions|consignes|règles précédent*|antérieur*",
      "ignor*|olvid* <2> instrucciones|reglas anteriores|previas",
      "ignor*|esque* <2> instruções|regras anteriores|prévias",
      "ignor*|dimentica* <2> istruzioni|regole precedenti",
      "игнорир*|забудь*|проигнорир* <3> предыдущ*|прежн* <1> инструкци*|указани*|правил*",
    ],
    { groups },
  ),
  ...phrasesOf(
    "soft",
    [
      "overrid* <3> safety|security <1> rules|guidelines|policies",
      "IGNORE <3> ORDERS",
      "overrid*|replac* <3> system <1> prompt|instructions|message",
      "new system <1> instructions|prompt",
      "you are now <4>  mode",
      "obey <3> only|me",
      "from now on <2> only|you|always",
      "never refuse",
      "jailbreak*",
    ].map((one) => one.replaceAll("  ", " ")),
    { groups },
  ),
]);

const FRAGMENTS: readonly FragmentPhrase[] = fragmentsOf("hard", [
  "忽略|无视|忘记|忽視 之前|以前|先前|前面|此前|所有 指令|指示|规则|提示|说明",
  "これまで|以前|前 指示|命令|指令 無視|忘れ",
  "이전|기존|앞선 지시|명령|지침 무시|잊",
]);

/** Marks that separate the messages of a conversation in the formats of models. */
const MARKS = [
  "<|im_start|>",
  "<|im_end|>",
  "<|system|>",
  "<|endoftext|>",
  "<|eot_id|>",
  "[/INST]",
  "<<SYS>>",
  "</tool_description>",
];
const PRETENDED = ["<system>", "</system>", "[SYSTEM]", "<IMPORTANT>", "<important>", "<SYSTEM>", "SYSTEM:"];

export function override(text: string, words: readonly Word[]): readonly Found[] {
  const phrases = [...TABLE.find(words), ...findFragments(text, FRAGMENTS)];
  const marks = [...marksIn(text, MARKS, "hard"), ...marksIn(text, PRETENDED, "soft")];
  return [...phrases, ...marks].map((found) => ({ sign: "override", ...found }));
}

function marksIn(text: string, marks: readonly string[], severity: Found["severity"]) {
  return marks.flatMap((mark) => {
    const at = text.indexOf(mark);
    return at < 0 ? [] : [{ severity, start: at, end: at + mark.length }];
  });
}
