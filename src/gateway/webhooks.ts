/** The webhooks of the settings: how they are accepted, shown and stored. They are matched by name. */
import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isReference } from "../kernel/secret-arguments.ts";
import type { StoredWebhook } from "./objects.ts";
import type { WebhookFields } from "./schemas.ts";
import { MASK, secretToStore, shown, type Vault } from "./secrets.ts";

const MIN_SECRET = 16;

/** The stored form of what was sent. A masked value keeps the stored one. */
export function webhooksToStore(
  sent: readonly WebhookFields[],
  stored: readonly StoredWebhook[],
  vault: Vault,
  problems: FieldProblem[],
): readonly StoredWebhook[] {
  return sent.map(({ url, secret, ...rest }, at) => {
    const wrong = (field: string, message: string): void =>
      void problems.push({ path: pointer("/notify", at, field), message });
    const before = stored.find(({ name }) => name === rest.name);
    if (sent.findIndex(({ name }) => name === rest.name) !== at) wrong("name", "appears twice: keep one");
    const kept = before?.url.shown === url || (before && !vault.discreet && vault.open(before.url) === url);
    const problem = kept ? undefined : urlProblem(url, rest.allowPrivate);
    if (problem !== undefined) wrong("url", problem);
    if (secret !== undefined && secret !== MASK && secret.length < MIN_SECRET)
      wrong("secret", `must have at least ${MIN_SECRET} characters`);
    if (secret !== undefined && isReference(secret))
      wrong("secret", "must be the secret itself: names of variables are not replaced here");
    const key = secret === undefined ? undefined : secretToStore(secret, before?.secret, vault);
    if (secret !== undefined && key === undefined)
      wrong("secret", "is masked, but no value is stored: enter a value");
    return {
      ...rest,
      url: kept ? before.url : { ...vault.seal(url), shown: shownUrl(url) },
      ...(key === undefined ? {} : { secret: key }),
    };
  });
}

export function shownWebhooks(stored: readonly StoredWebhook[]): readonly WebhookFields[] {
  return stored.map(({ url, secret, ...rest }) => ({
    ...rest,
    url: url.shown,
    ...(secret === undefined ? {} : { secret: shown(secret) }),
  }));
}

function urlProblem(url: string, allowPrivate: boolean): string | undefined {
  if (url.includes(MASK)) return "is masked, but no value is stored: enter a value";
  if (!URL.canParse(url)) return "is not a URL";
  const { protocol, username } = new URL(url);
  if (username !== "") return "must not contain a user name";
  if (protocol === "https:" || (protocol === "http:" && allowPrivate)) return undefined;
  return protocol === "http:"
    ? "must begin with https://, unless allowPrivate is on"
    : "must begin with https://";
}

/** The path of such a URL is often a password. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return MASK;
  const { origin, pathname, search } = new URL(url);
  return pathname === "/" && search === "" ? `${origin}/` : `${origin}/${MASK}`;
}
