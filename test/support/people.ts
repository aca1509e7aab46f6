/** Accounts for tests, and requests to the admin API with their cookie or with an API key. */
import type { Role } from "../../src/access/account.ts";
import { adminFetch } from "./admin-answers.ts";
import type { ApiResponse, TestAdmin } from "./test-control.ts";

export const PASSWORD = "correct horse battery";

export type AskAs = (method: string, path: string, body?: unknown, headers?: object) => Promise<ApiResponse>;

/** Sends requests to the admin API, with these headers and no others. */
export function apiClient(url: string, always: Readonly<Record<string, string>> = {}): AskAs {
  return async (method, path, body, headers = {}) => {
    const answer = await adminFetch(`${url}/api/v1${path}`, {
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

export function cookieIn({ headers }: Pick<ApiResponse, "headers">): string {
  return headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}

/** An account that is logged in. */
export async function person(
  { access, url }: Pick<TestAdmin, "access" | "url">,
  role: Role,
  email = `${role}@example.org`,
): Promise<{ readonly uuid: string; readonly email: string; readonly cookie: string; readonly ask: AskAs }> {
  const account = await access.accounts.create({ email, role });
  const cookie = (await access.sessions.begin(account, {})).split(";", 1)[0] ?? "";
  return { uuid: account.uuid, email, cookie, ask: apiClient(url, { cookie, origin: url }) };
}
