/**
 * Arguments and URLs of servers with secrets inside: how they are shown, accepted and stored.
 * `kernel/secret-arguments.ts` finds the secrets.
 */
import { replaceInArgument } from "../kernel/secret-arguments.ts";
import type { StoredText } from "./objects.ts";
import { MASK, type Vault } from "./secrets.ts";

type Fields = Readonly<Record<string, unknown>>;
type TextPath = readonly [AddressField] | readonly ["args", string];

/** The fields with an address, which can contain secrets. */
export const ADDRESS_FIELDS = ["url", "openapi", "baseUrl"] as const;
export type AddressField = (typeof ADDRESS_FIELDS)[number];

/**
 * Returns a copy with the addresses and every argument replaced. `previous` is the argument before, which can
 * name the value after it.
 */
export function mapTexts(
  server: Fields,
  replace: (text: StoredText, previous: StoredText | undefined, path: TextPath) => unknown,
): Record<string, unknown> {
  const { args } = server;
  const addresses = ADDRESS_FIELDS.flatMap((name) => {
    const text = server[name];
    return isText(text) ? [[name, replace(text, undefined, [name])]] : [];
  });
  return {
    ...server,
    ...Object.fromEntries(addresses),
    ...(Array.isArray(args) && {
      args: args.map((arg: StoredText, at) =>
        replace(arg, args[at - 1] as StoredText | undefined, ["args", String(at)]),
      ),
    }),
  };
}

function isText(value: unknown): value is StoredText {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** The text with its secrets masked. */
export function shownText(text: StoredText, previous?: StoredText): string {
  if (typeof text !== "string") return text.shown;
  return replaceInArgument(text, typeof previous === "string" ? previous : undefined, () => MASK);
}

/**
 * The texts to store for received ones; undefined for a mask whose secret is not stored. An argument that is
 * only a mask keeps a stored secret only behind the same argument as before, so that a secret does not move
 * to another option.
 */
export function textsToStore(
  sent: readonly string[],
  stored: readonly StoredText[],
  vault: Vault,
): readonly (StoredText | undefined)[] {
  const free = stored.map((text, at) => ({
    text,
    shown: shownText(text, stored[at - 1]),
    before: at === 0 ? undefined : shownText(stored[at - 1] as StoredText, stored[at - 2]),
  }));
  const takeWhere = (fits: (one: (typeof free)[number]) => boolean): StoredText | undefined => {
    const at = free.findIndex(fits);
    return at < 0 ? undefined : free.splice(at, 1)[0]?.text;
  };
  return sent.map((text, at) => {
    const previous = sent[at - 1];
    if (text.includes(MASK)) {
      const before = previous === undefined ? undefined : shownText(previous, sent[at - 2]);
      return takeWhere((one) => one.shown === text && (text !== MASK || one.before === before));
    }
    const shown = shownText(text, previous);
    if (shown === text) return text;
    // Sealing the same value again gives another text, which would count as a change.
    const same = takeWhere(
      (one) => typeof one.text === "object" && one.shown === shown && vault.open(one.text) === text,
    );
    return same ?? { ...vault.seal(text), shown };
  });
}
