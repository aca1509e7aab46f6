/**
 * Finds secrets in the arguments and the URL of a server, by the names before them and by their form. All
 * else stays readable.
 */
import { isPlainlySecretName, isSecretName } from "./looks-secret.ts";
import { replaceSecrets } from "./secret-spans.ts";

/**
 * Whether the text is only one `${VAR}`, `${secret:…}`, `${user.…}` or the place of a secret, such as
 * `${file:…}`, and so contains no secret. A variable with a default could contain one.
 */
export function isReference(text: string): boolean {
  return /^\$\{(?:(?:secret:)?[A-Za-z_][\w.]*|(?:file:|keychain:|vault:|op:\/\/)[^{}]*)\}$/.test(text);
}

/** `previous` is the argument before, which can name the value after it. */
export function replaceInArgument(
  text: string,
  previous: string | undefined,
  replace: (secret: string) => string,
): string {
  const [, name = "", value = ""] = /^(-{0,2}[\w.-]+(?:=|:(?!\/\/)\s*))(.+)$/s.exec(text) ?? [];
  if (isSecretFlag(name)) return isOpen(value) ? text : name + replace(value);
  if (previous !== undefined && /^--?[\w.-]+$/.test(previous) && isSecretFlag(previous))
    return isOpen(text) || text.startsWith("-") ? text : replace(text);
  // The path of an address can be a secret too. Elsewhere a random word is more often an id.
  const random = /^https?:\/\//i.test(text);
  // A secret in a query or a connection string ends at the separator. A password before "@" can contain it.
  const head = text.lastIndexOf("@") + 1;
  return [text.slice(0, head), ...text.slice(head).split(/(?=[&;])/)]
    .map((part) => replaceSecrets(part, (secret) => (isOpen(secret) ? secret : replace(secret)), { random }))
    .join("");
}

/** Whether the last word of the name means a secret: `--api-key`, but not `--api-key-file`. */
function isSecretFlag(written: string): boolean {
  const name = written.replaceAll(/^-+|[=:\s]+$/g, "");
  const [last = ""] = /[A-Za-z0-9]+$/.exec(name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")) ?? [];
  return !name.startsWith("no-") && (isPlainlySecretName(name) || isSecretName(last));
}

/** Whether the value names a secret instead of containing one. */
function isOpen(value: string): boolean {
  return isReference(value.replace(/^(?:bearer|basic|token)\s+/i, "").trim());
}
