/** Texts and parameters that ask for secrets, the conversation or other data that a tool should not need. */
import { type FragmentPhrase, findFragments, fragmentsOf } from "./fragments.ts";
import { PhraseTable, phrasesOf } from "./phrase.ts";
import type { Found } from "./sign.ts";
import type { Word } from "./words.ts";

/** Ends of paths where secrets are. */
const SECRET_FILES =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.env(?:\.[a-z]+)?|\.kube|\.docker|\.git-credentials|\.bash_history|\.zsh_history|\.config|id_rsa|id_ed25519|id_ecdsa|authorized_keys|etc\/passwd|etc\/shadow|mcp\.json|claude_desktop_config\.json|wallet\.dat)(?:$|[/:,])/;
const ADDRESS = /^(?:https?:\/\/|[^@/]{1,64}@[^@/]{1,64}\.)/;

const tests = { secret: isSecretPlace, address: isAddress };
const groups = {
  READ: "read|open|cat|load|access|fetch|gather|collect|extract|obtain|retrieve",
  SEND: "pass|send|include|append|attach|upload|transmit|submit|post|put|forward|exfiltrate|leak|copy",
  SECRETS: "password|passwords|cookie|cookies|credentials|secrets|token|tokens|keys",
  TALK: "conversation|chat|message",
};

const TABLE = new PhraseTable([
  ...phrasesOf(
    "hard",
    [
      "READ <8> @secret <<16>> SEND|content|contents",
      "send|upload|transmit|submit|post|forward|exfiltrate|leak|append|attach <8> @secret",
      "pass|include|put|copy <4> content|contents <3> @secret",
      "include|attach|append|send|upload|forward <8> private <1> key|keys <2> from|of",
      "exfiltrat* <8> cookies|credentials|keys|secrets|files|tokens",
      "READ <3> environment variables <<8>> SEND",
      "SEND <2> all <2> api|keys|tokens|environment <3> keys|tokens|variables|find",
      "lies|lese|öffne <6> @secret <<12>> übergib|sende|schick*|inhalt",
      "send*|schick*|übermitt*|lad* <6> inhalt* <4> @secret",
      "lis|lisez|ouvre <6> @secret <<12>> transmet*|envoie*|passe*|contenu",
      "envoie*|transmet* <6> @secret",
      "lee|lea|abre|leia|leggi <6> @secret <<12>> envía*|pasa|conten*|envie|invia",
      "envía|envia|manda|invia <6> @secret",
      "прочитай*|прочти* <5> @secret <<12>> передай*|отправь*|содержим*",
      "отправь* <6> @secret",
    ],
    { groups, tests },
  ),
  ...phrasesOf(
    "soft",
    [
      "@secret",
      "SEND <4> users <4> SECRETS|key|password|cookie|card",
      "SEND <4> value|values <3> environment variable|variables",
      "full|entire|complete|whole|all <2> TALK <1> history|log|messages|transcript|context",
      "full|entire|complete|whole <1> conversation|chat",
      "your|entire|full|complete <1> system prompt",
      "exfiltrat*",
      "all|every <2> api keys|tokens",
      "all environment variables",
    ],
    { groups, tests },
  ),
]);

const FRAGMENTS: readonly FragmentPhrase[] = fragmentsOf("hard", [
  "读取|打开|查看 .ssh|.aws|.env|id_rsa|/etc/passwd 发送|传递|内容|作为",
  ".ssh|.aws|.env|id_rsa|/etc/passwd 読み取|読ん|内容 渡|送",
]);

/** Names of parameters that carry what only the model knows. */
const TALK_NAMES = new Set(
  "conversation_history chat_history full_conversation conversation_context system_prompt chain_of_thought tools_list available_tools".split(
    " ",
  ),
);
const NAME_OF_SECRET =
  /(?:^|_)(?:ssh|id_rsa|private_key|passwd|etc_shadow|aws_credentials|env_file|dotenv)(?:_|$)/;
const NAME_OF_CONTENT = /(?:^|_)(?:content|contents|read|reading|dump)(?:_|$)/;

export function sendAway(text: string, words: readonly Word[]): readonly Found[] {
  const found = [...TABLE.find(words), ...findFragments(text, FRAGMENTS)];
  return found.map((one) => ({ sign: "send-away", ...one }));
}

/** For the name of a parameter, as in `content_of_ssh_key`. */
export function askedByName(name: string): readonly Found[] {
  const plain = name
    .slice(0, 200)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase()
    .replaceAll("-", "_");
  const secret = NAME_OF_SECRET.test(plain) && NAME_OF_CONTENT.test(plain);
  if (!secret && !TALK_NAMES.has(plain)) return [];
  return [{ sign: "send-away", severity: secret ? "hard" : "soft", start: 0, end: name.length }];
}

/** As in `~/.ssh/id_rsa`. Bounded, because a path may be long. */
function isSecretPlace(word: string): boolean {
  return SECRET_FILES.test(word.slice(0, 200));
}

function isAddress(word: string): boolean {
  return ADDRESS.test(word.slice(0, 200));
}
