/** Accounts for tests, and how they ask: with a cookie from a page of the gateway, or with a key. */
import type { Role } from "../../src/access/account.ts";
import type { Asked, TestAdmin } from "./test-control.ts";

export const PASSWORD = "correct horse battery";

export type AskAs = (method: string, path: string, body?: unknown, headers?: object) => Promise<Asked>;

/** Sends what it is told, and nothing else. */
export function plainly(url: string, always: Readonly<Record<string, string>> = {}): AskAs {
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...always,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = /[/+]json/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
}

export function cookieIn({ headers }: Pick<Asked, "headers">): string {
  return headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}

/** A person with a page of the gateway open. */
export async function person(
  { access, url }: Pick<TestAdmin, "access" | "url">,
  role: Role,
  email = `${role}@example.org`,
): Promise<{ readonly uuid: string; readonly email: string; readonly cookie: string; readonly ask: AskAs }> {
  const account = await access.accounts.create({ email, role });
  const cookie = (await access.sessions.begin(account, {})).split(";", 1)[0] ?? "";
  return { uuid: account.uuid, email, cookie, ask: plainly(url, { cookie, origin: url }) };
}
