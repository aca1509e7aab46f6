/** HTTP basic authentication from a URL. */

/** The `Authorization` header for user and password of the URL; undefined if it has neither. */
export function basicOf({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

/** Some people write a percent sign unencoded. Then the text is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
