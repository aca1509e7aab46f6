import { expect, test } from "vitest";
import {
  type Answerer,
  dial,
  error,
  httpChild,
  json,
  remoteSpec,
  result,
  sessionful,
} from "../../../test/support/http-child.ts";
import { until } from "../../../test/support/until.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { secretsFrom } from "../../kernel/secret.ts";
import type { Authorization, Credential, Denial } from "./authorization.ts";
import { readChallenge } from "./challenge.ts";

const shows = (token: string, holder = "someone"): Credential => ({ header: `Bearer ${token}`, holder });

interface Login extends Authorization {
  readonly denials: Denial[];
  vain: number;
}

/** A login that returns the given credentials. */
function login(
  current: Authorization["current"],
  replace: () => Promise<Credential | string> = () => Promise.resolve("there is none"),
): Login {
  const denials: Denial[] = [];
  return {
    denials,
    vain: 0,
    current,
    replace(_, denial) {
      denials.push(denial);
      return replace();
    },
    replacementDenied() {
      this.vain++;
    },
  };
}

/** A server that accepts one token. Its answers repeat the token it got. */
const accepting =
  (good: string, status = 401, challenge = "Bearer"): Answerer =>
  ({ headers, message }, response) => {
    if (headers.authorization === `Bearer ${good}`) json(response, result(message.id, headers.authorization));
    else {
      // Real servers repeat tokens in error texts too.
      const said = error(message.id, -32001, `not taken: ${headers.authorization}`);
      json(response, said, status, { "www-authenticate": challenge });
    }
  };

test("the credential is requested for every HTTP request, and without one nothing is sent", async () => {
  const child = await httpChild(({ message, headers }, response) =>
    json(response, result(message.id, headers.authorization ?? "none")),
  );
  const turns = [
    () => shows("t1"),
    () => Promise.resolve(shows("t2")),
    () => undefined,
    () => Promise.reject(new MetaMcpError("auth_required", "the file is broken")),
    () => Promise.reject(new Error("very-secret")),
  ];
  const { request, answer, failure } = await dial(remoteSpec(child.url), {
    authorize: () => login(() => turns.shift()?.()),
  });

  for (const [id, shown] of [
    [1, "Bearer t1"],
    [2, "Bearer t2"],
    [3, "none"],
  ] as const) {
    request(id, "ping");
    expect((await answer(id)).result).toBe(shown);
  }
  request(4, "ping");
  expect(await failure(4)).toMatchObject({
    category: "auth",
    unsent: true,
    message: `${child.url}: the file is broken`,
  });
  request(5, "ping");
  expect((await failure(5)).message).not.toContain("very-secret");
  expect(child.seen).toHaveLength(3);
});

test("a configured Authorization header is used instead of the login", async () => {
  const child = await httpChild(({ message, headers }, response) =>
    json(response, result(message.id, headers.authorization)),
  );
  const { request, answer } = await dial(
    remoteSpec(child.url, { headers: secretsFrom({ Authorization: "static" }) }),
    {
      authorize: () => login(() => shows("t")),
    },
  );
  request(1, "ping");
  expect((await answer(1)).result).toBe("static");
});

test("a denied request is sent once more with another credential", async () => {
  const child = await httpChild(accepting("new"));
  const auth = login(
    () => shows("old"),
    () => Promise.resolve(shows("new")),
  );
  const { request, answer } = await dial(remoteSpec(child.url), { authorize: () => auth });

  request(1, "echo", { text: "x".repeat(100_000) });

  expect((await answer(1)).result).toBe("Bearer new");
  expect(child.seen.map(({ body }) => body.length)).toEqual([
    child.seen[0]?.body.length,
    child.seen[0]?.body.length,
  ]);
  expect(auth).toMatchObject({ denials: [{ missing: undefined }], vain: 0 });
});

test("a request is not sent a third time", async () => {
  const child = await httpChild(accepting("never"));
  const auth = login(
    () => shows("secret-1"),
    () => Promise.resolve(shows("secret-2")),
  );
  const { request, failure } = await dial(remoteSpec(child.url), { authorize: () => auth });

  request(1, "ping");

  const seen = await failure(1);
  expect(seen).toMatchObject({ category: "auth", challenge: "Bearer" });
  expect(seen.message).toContain("not taken: [secret]");
  expect(child.seen).toHaveLength(2);
  expect(auth.vain).toBe(1);
});

test("without another credential the request fails with the reason, and the link stays open", async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="a b"';
  const child = await httpChild(accepting("never", 403, challenge));
  const auth = login(
    () => shows("t"),
    () => Promise.resolve("the login has ended"),
  );
  const { request, failure, closed } = await dial(remoteSpec(child.url), { authorize: () => auth });

  request(1, "ping");

  expect(await failure(1)).toMatchObject({
    category: "auth",
    challenge,
    message: `${child.url} answered 403; the login has ended`,
  });
  expect(auth.denials).toEqual([{ missing: ["a", "b"] }]);
  expect(closed).toEqual([]);
});

test("a 403 that names no missing scope is not retried", async () => {
  const child = await httpChild(accepting("never", 403));
  const auth = login(() => shows("t"));
  const { request, failure } = await dial(remoteSpec(child.url), { authorize: () => auth });
  request(1, "ping");
  expect(await failure(1)).toMatchObject({ category: "auth" });
  expect(auth.denials).toEqual([]);
});

test("a session is not continued with another login, but its requests in flight finish", async () => {
  let holder = "first";
  let finish = (): void => {};
  const child = await httpChild(
    sessionful(({ message }, response) => {
      finish = () => json(response, result(message.id));
      if (message.method !== "long") finish();
    }),
  );
  const { request, answer, failure, closed, handshake } = await dial(remoteSpec(child.url), {
    authorize: () => login(() => shows("t", holder)),
  });
  await handshake();
  request(2, "long");
  await until(() => child.seen.some(({ message }) => message.method === "long"));

  holder = "second";
  request(3, "ping");

  expect(await failure(3)).toMatchObject({ category: "other", sessionLost: true, unsent: true });
  expect(child.seen.some(({ message }) => message.method === "ping")).toBe(false);
  finish();
  await answer(2);
  expect(closed).toEqual([]);
});

test("a token is not sent to another origin", async () => {
  const other = await httpChild((_, response) => json(response, {}));
  const child = await httpChild((_, response) => response.writeHead(307, { location: other.url }).end());
  const { request, failure } = await dial(remoteSpec(child.url), {
    authorize: () => login(() => shows("t")),
  });
  request(1, "ping");
  expect((await failure(1)).message).toContain("it has moved");
  expect(other.seen).toEqual([]);
});

test.each([
  [undefined, undefined],
  ["Basic realm=x", undefined],
  ["Bearer", { error: undefined, scopes: [] }],
  [
    'Basic realm="Bearer", bearer error=insufficient_scope, scope="a  b:c"',
    { error: "insufficient_scope", scopes: ["a", "b:c"] },
  ],
  ['Bearer scope="a\u0007 b ü", error="invalid_token"', { error: "invalid_token", scopes: ["b"] }],
  [`Bearer scope="${"x ".repeat(1000)}"`, { error: undefined, scopes: Array(50).fill("x") }],
])("readChallenge reads a header (%#)", (header, challenge) => {
  expect(readChallenge(header)).toEqual(challenge);
});
