/** User and password of an address as what is shown for them. */

/** The value of an `Authorization` header; undefined where the address names nobody. */
export function basicOf({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

/** People write a percent sign where they mean one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
