/**
 * What a client carries from one gateway to another on the same store: cursors, states, task ids, result
 * URIs, keys of the self-test.
 */
import { expect, test } from "vitest";
import {
  inStep,
  makeTeam,
  onPostgres,
  type Replica,
  request2026,
  SECRET,
  startReplica,
  twoReplicas,
} from "../../support/replicas.ts";
import { fixture } from "../../support/temp.ts";

const INVALID_PARAMS = -32602;

interface Page {
  readonly tools: { readonly name?: string; readonly tool?: string; readonly id?: string }[];
  readonly nextCursor?: string;
}

/** Reads the next page of a list at a gateway. Throws the JSON-RPC error. */
type NextPage = (gateway: Replica, cursor: string | undefined) => Promise<Page>;

async function answered(answer: ReturnType<typeof request2026>) {
  const { result, error } = await answer;
  if (error) throw Object.assign(new Error(error.message), { code: error.code });
  return result;
}

function listPages(key: string): NextPage {
  return async (gateway, cursor) =>
    (await answered(
      request2026(gateway, "all", key, "tools/list", cursor === undefined ? {} : { cursor }),
    )) as Page;
}

function toolPages(key: string, endpoint: string, name: string, args: object): NextPage {
  return async (gateway, cursor) => {
    const params = { name, arguments: { ...args, ...(cursor === undefined ? {} : { cursor }) } };
    const result = await answered(request2026(gateway, endpoint, key, "tools/call", params));
    return JSON.parse(result.content[0].text) as Page;
  };
}

const nameOf = ({ name, tool, id }: Page["tools"][number]): string => id ?? tool ?? name ?? "";

async function readAll(next: NextPage, gateways: readonly Replica[]): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await next(gateways[pages % gateways.length] as Replica, cursor);
    names.push(...page.tools.map(nameOf));
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  expect(pages).toBeGreaterThan(2);
  return names;
}

const ENDPOINTS = {
  all: { surface: "aggregate" },
  meta: { surface: "meta" },
  tools: { surface: "metatools" },
};

onPostgres("two gateways", () => {
  test("a list is read page by page in turn, on every surface", async () => {
    const { one, two } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture("--bare", "--tools", "1100") }, ENDPOINTS);
    await inStep([one, two], key, "all");
    const lists: Readonly<Record<string, NextPage>> = {
      "tools/list": listPages(key),
      "mcp_discover of a server": toolPages(key, "meta", "mcp_discover", { server: "fix", limit: 100 }),
      "mcp_discover with a query": toolPages(key, "meta", "mcp_discover", {
        query: "tool number",
        limit: 20,
      }),
      search_tools: toolPages(key, "tools", "search_tools", { query: "tool number", limit: 20 }),
      list_tools: toolPages(key, "tools", "list_tools", { limit: 100 }),
    };
    for (const [name, next] of Object.entries(lists)) {
      // Both have listed the server before, so that they know the same.
      for (const gateway of [one, two]) await next(gateway, undefined);
      const alone = await readAll(next, [one]);
      expect(await readAll(next, [one, two]), name).toEqual(alone);
      expect(new Set(alone).size, name).toBe(alone.length);

      const { nextCursor = "" } = await next(one, undefined);
      const garbled = `${nextCursor.slice(0, -1)}${nextCursor.endsWith("A") ? "B" : "A"}`;
      for (const cursor of [garbled, "", "x"])
        await expect(next(two, cursor), name).rejects.toMatchObject({ code: INVALID_PARAMS });
    }
    // A cursor is for one list, and, where the content depends on the caller, for one principal.
    const { nextCursor } = await (lists["list_tools"] as NextPage)(one, undefined);
    const other = toolPages(await two.key(), "tools", "list_tools", { limit: 100 });
    await expect(other(two, nextCursor)).rejects.toMatchObject({ code: INVALID_PARAMS });
    await expect((lists["search_tools"] as NextPage)(two, nextCursor)).rejects.toMatchObject({
      code: INVALID_PARAMS,
    });
  });

  test("a cursor outlives a change of the secret key", async () => {
    const { one, two, database } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture("--bare", "--tools", "1100") }, ENDPOINTS);
    await inStep([one, two], key, "all");
    const next = listPages(key);
    const { nextCursor } = await next(one, undefined);
    const renewed = await startReplica(database, {
      env: {
        METAMCP_SECRET_KEY: "a-new-secret-for-both-gateways-9876543210",
        METAMCP_SECRET_KEY_OLD: SECRET.METAMCP_SECRET_KEY,
      },
    });
    await next(renewed, undefined);
    expect((await next(renewed, nextCursor)).tools).toHaveLength(500);
  });

  test("what one gateway keeps is named with its replica at the other, and belongs to its caller", async () => {
    const { one, two } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture("--tasks") }, ENDPOINTS);
    await inStep([one, two], key, "all");
    const ask = (gateway: Replica, more: object = {}, by = key) =>
      request2026(gateway, "all", by, "tools/call", { name: "fix__ask", arguments: {}, ...more });
    const asked = await ask(one);
    const { requestState } = asked.result;
    const atTwo = await ask(two, { requestState, inputResponses: {} });
    expect(atTwo.error?.message).toMatch(/waits at replica [0-9a-f]{8} of the gateway/);
    // Who may not answer does not learn where the call waits.
    for (const foreign of [
      await ask(two, { requestState }, await two.key()),
      await ask(two, { requestState, arguments: { message: "other" } }),
    ])
      expect(foreign.error?.message).toContain("belongs to another request");
    const [name] = Object.keys(asked.result.inputRequests);
    const inputResponses = { [name as string]: { action: "accept", content: { name: "Ada" } } };
    expect((await ask(one, { requestState, inputResponses })).result.content[0].text).toBe("answered");

    const big = { name: "mcp_call", arguments: { server: "fix", tool: "big", args: { bytes: 200_000 } } };
    const stored = await request2026(one, "meta", key, "tools/call", big);
    const uri = /metamcp:\/\/result\/[\w.-]+/.exec(JSON.stringify(stored.result))?.[0];
    const read = (gateway: Replica) => request2026(gateway, "meta", key, "resources/read", { uri });
    expect((await read(one)).result.contents).toHaveLength(1);
    expect((await read(two)).error?.message).toMatch(/stored at replica [0-9a-f]{8}/);
  });

  test("a key of the self-test opens its endpoint at every gateway", async () => {
    const { one, two, database } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture() }, ENDPOINTS);
    await inStep([one, two], key, "all");
    // Its self-test asks the second gateway, as it would through a proxy.
    const tester = await startReplica(database, { flags: ["--public-url", two.url] });
    await inStep([one, two, tester], key, "all");
    const { body } = await tester.api("POST", "/endpoints/all/self-test");
    expect(body).toMatchObject({ ok: true, url: `${two.url}/metamcp/all/mcp` });
  });
});
