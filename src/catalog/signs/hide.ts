/** Texts that ask to keep something from the user. */
import { type FragmentPhrase, findFragments, fragmentsOf } from "./fragments.ts";
import { PhraseTable, phrasesOf } from "./phrase.ts";
import type { Found } from "./sign.ts";
import type { Word } from "./words.ts";

const groups = {
  NOT: "not|never|dont|mustnt|shouldnt|cannot",
  USER: "user|users|human|humans",
  NUTZER: "nutzer*|benutzer*|anwender*|user",
  UTILISATEUR: "lutilisateur*|utilisateur*",
  USUARIO: "usuario*|usuário*|cliente",
  UTENTE: "utente|utenti|lutente|allutente|dallutente",
};

const TABLE = new PhraseTable([
  ...phrasesOf(
    "hard",
    [
      "NOT <2> tell <2> USER",
      "NOT <2> inform <2> USER <1> of|about|that",
      "NOT <2> let <1> USER <1> know|notice|see",
      "NOT <2> reveal|disclose|mention <3> to <1> USER <1> that",
      "NOT <2> mention <1> to <1> USER",
      "NOT <2> reveal <1> this|these|that|it <2> steps|instructions",
      "without telling|informing <1> USER",
      "without the USER <1> knowing|noticing|knowledge",
      "USER must|should|shall not|never <1> know|notice|see|learn|find",
      "keep <6> secret|hidden|confidential|private <1> from <1> USER",
      "hide <5> from <1> USER",
      "secretly|covertly <6> read|send|copy|call|upload|include|forward|collect",
      "sag|sage|verrate|erzähl|erzähle <3> NUTZER <3> nicht|nichts",
      "informier* <2> NUTZER nicht|niemals",
      "erwähn* <5> NUTZER <3> nicht|nichts",
      "ne|ninforme* dis|dites|parle|parlez|informe|informez|mentionne|mentionnez|rien|pas|UTILISATEUR <4> UTILISATEUR",
      "ninforme* <2> UTILISATEUR",
      "no|nunca <2> informe*|digas|menciones|reveles|avises <3> USUARIO",
      "não|nunca <2> informe*|conte|diga|mencione|revele <3> USUARIO",
      "non|mai <2> informare|dire|menzionare|rivelare|avvisare <3> UTENTE",
      "не|никогда <1> сообщай*|говори*|рассказывай*|упоминай*|раскрывай* <3> пользовател*",
    ],
    { groups },
  ),
  ...phrasesOf(
    "soft",
    [
      "NOT <2> reveal|disclose|mention|show|notify|alert|explain <6> USER",
      "silently|quietly|discreetly|covertly <8> copy|send|upload|read|forward|call|include|append|attach|pass",
      "copy|send|upload|forward <3> silently|quietly|discreetly",
      "no reason|need <1> tell|inform|notify|mention <3> USER|person",
      "without <2> asking|prompting|confirming|notifying <3> USER",
      "without <2> users|user <1> consent|permission|approval|confirmation",
      "never ask <2> confirmation|permission",
      "USER may|does not <1> know|notice|see|learn|find",
      "keep <4> secret|hidden",
    ],
    { groups },
  ),
]);

const FRAGMENTS: readonly FragmentPhrase[] = [
  ...fragmentsOf("hard", [
    "不要|别|勿|不得|不能 告诉|提及|通知|透露|让 用户",
    "不要|别|勿|不得 向用户|对用户 提及|透露|说明|提到|展示",
    "ユーザー|利用者 知らせない|伝えない|言わない|教えない|通知しない",
    "사용자 알리지|말하지|밝히지|언급하지",
  ]),
];

export function hide(text: string, words: readonly Word[]): readonly Found[] {
  return [...TABLE.find(words), ...findFragments(text, FRAGMENTS)].map((found) => ({
    sign: "hide",
    ...found,
  }));
}
