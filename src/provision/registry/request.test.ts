import { expect, test } from "vitest";
import { systemClock } from "../../engine/system-clock.ts";
import { type Fetch, get } from "./request.ts";

/** A fetch with fixed answers per URL that records URLs and credentials. */
function fakeFetch(answers: Readonly<Record<string, Response>>): {
  fetch: Fetch;
  seen: [string, string | null][];
} {
  const seen: [string, string | null][] = [];
  const fetch: Fetch = async (input, init) => {
    const url = String(input);
    seen.push([url, new Headers(init?.headers).get("authorization")]);
    return answers[url] ?? new Response("", { status: 404 });
  };
  return { fetch, seen };
}

const to = (location: string): Response => new Response(null, { status: 302, headers: { location } });
const ask = (url: string) => ({
  url: new URL(url),
  accept: "*/*",
  authorization: "Basic secret",
  maxBytes: 100,
  timeoutMs: 10_000,
});

test("a credential is sent only to its own origin, also across redirects", async () => {
  const { fetch, seen } = fakeFetch({
    "https://a.example/": to("/b"),
    "https://a.example/b": to("https://c.example/"),
    "https://c.example/": to("https://a.example/end"),
    "https://a.example/end": new Response("yes"),
  });
  const { body } = await get(ask("https://a.example/"), { fetch, clock: systemClock });
  expect(body.toString()).toBe("yes");
  expect(seen).toEqual([
    ["https://a.example/", "Basic secret"],
    ["https://a.example/b", "Basic secret"],
    ["https://c.example/", null],
    ["https://a.example/end", "Basic secret"],
  ]);
});

test.each([
  ["https://a.example/", "http://a.example/"],
  ["https://a.example/", "data:text/plain,x"],
  ["http://a.example/", "https://b.example/"],
  ["http://a.example/", "http://a.example:8080/"],
  ["https://a.example/", "https://"],
])("a redirect from %s to %s is refused", async (from, location) => {
  const { fetch, seen } = fakeFetch({ [from]: to(location) });
  await expect(get(ask(from), { fetch, clock: systemClock })).rejects.toThrow(/redirects to another place/);
  expect(seen).toHaveLength(1);
});
