import { describe, expect, test } from "vitest";
import type { Call } from "../../../kernel/call.ts";
import { MetaMcpError } from "../../../kernel/errors.ts";
import type { Raw } from "../../../kernel/raw.ts";
import { RpcError } from "../../../rpc/rpc-error.ts";
import { callOf, newTrail, RESULT, raw, registry, testPipeline } from "../../layer.fixture.ts";

const MAIL = "ada@example.org";
const masked = async (detect: readonly unknown[], value: unknown): Promise<unknown> => {
  const { call, seen } = await testPipeline([{ use: "redact", detect, in: ["arguments"] }]);
  await call({ args: { value } });
  return JSON.parse(String(seen[0]?.params)).arguments.value;
};

describe("detection", () => {
  test.each([
    ["email", `write to ${MAIL}.`, "write to [email]."],
    ["email", "no@ address", "no@ address"],
    ["card", "4111 1111 1111 1111", "[card]"],
    ["card", "4111111111111112", "4111111111111112"],
    ["card", 4111111111111111, "[card]"],
    ["iban", "to DE89 3704 0044 0532 0130 00 now", "to [iban] now"],
    ["iban", "DE89 3704 0044 0532 0130 01", "DE89 3704 0044 0532 0130 01"],
    ["phone", "call +49 151 23456789", "call [phone]"],
    ["phone", "version 1.2.3", "version 1.2.3"],
    ["secrets", "use ghp_0123456789abcdef", "use [secret]"],
    ["secrets", "use AKIAIOSFODNN7EXAMPLE", "use [secret]"],
    ["secrets", "use Bearer abcdefgh12345", "use [secret]"],
    ["secrets", "use ya29.abcdefgh1234", "use [secret]"],
    ["secrets", "//me:pw@h", "//[secret]@h"],
    ["secrets", "pwd=abcd", "pwd=[secret]"],
    ["email", "a@b.de", "[email]"],
    ["secrets", "Authorization: Bearer abcdef0123456789", "Authorization: [secret]"],
    ["secrets", "https://user:pass-word@host/", "https://[secret]@host/"],
    ["secrets", "password: hunter2!", "password: [secret]"],
    ["secrets", "x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln, a.b", "x-[secret], a.b"],
    ["secrets", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln.more", "[secret].more"],
    ["secrets", "eyJhbGciOiJIUzI1NiJ9. eyJhbGciOi.", "eyJhbGciOiJIUzI1NiJ9. eyJhbGciOi."],
    ["secrets", "DB_PASSWORD=hunter22", "DB_PASSWORD=[secret]"],
    ["secrets", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY=[secret]"],
    ["secrets", "client_secret: abcdef12", "client_secret: [secret]"],
    ["secrets", '{"accessToken":"abcdef12"}', '{"accessToken":"[secret]"}'],
    ["secrets", String.raw`{\"secret_key\":\"abcdef12\"}`, String.raw`{\"secret_key\":\"[secret]\"}`],
    ["secrets", '{"nextPageToken":"abcdef12"}', '{"nextPageToken":"abcdef12"}'],
    ["secrets", "total_tokens: 1523", "total_tokens: 1523"],
    ["secrets", "PASSWORD_FILE=/run/file", "PASSWORD_FILE=/run/file"],
    ["secrets", "https://user:p@ss@host/", "https://[secret]@host/"],
    ["secrets", "Cookie: session=abc; other=1", "Cookie: [secret]"],
    [
      "secrets",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n-----END RSA PRIVATE KEY----- after",
      "[secret] after",
    ],
    ["iban", "de89370400440532013000", "[iban]"],
    ["email", "ada@xn--e1afmkfd.xn--p1ai", "[email]"],
    ["secrets", { password: "hunter2" }, { password: "[secret]" }],
    ["secrets", { nextPageToken: "CAUQAA" }, { nextPageToken: "CAUQAA" }],
    ["secrets", { key: "PROJ-1" }, { key: "PROJ-1" }],
    ["secrets", { pin: 1, password: 12345678 }, { pin: 1, password: "[secret]" }],
    ["secrets", { password: -1, apiKey: 5.5e3 }, { password: "[secret]", apiKey: "[secret]" }],
    ["secrets", { tokens: 12, total_tokens: 1523 }, { tokens: 12, total_tokens: 1523 }],
    ["secrets", { tokens: { used: 12, access: "ab" } }, { tokens: { used: 12, access: "[secret]" } }],
    [
      "secrets",
      { password: { a: ["b", { c: 7 }], d: "" } },
      { password: { a: ["[secret]", { c: "[secret]" }], d: "" } },
    ],
    ["secrets", { secrets: [["a"], "b"], other: "c" }, { secrets: [["[secret]"], "[secret]"], other: "c" }],
    [
      "secrets",
      [{ password: "a" }, { name: "b" }, "c", 4],
      [{ password: "[secret]" }, { name: "b" }, "c", 4],
    ],
    [
      "secrets",
      { properties: { a: { properties: {} }, password: { type: "string", minLength: 8 } } },
      { properties: { a: { properties: {} }, password: { type: "string", minLength: 8 } } },
    ],
    ["secrets", { properties: { password: "hunter2" } }, { properties: { password: "[secret]" } }],
    ["card", "4111.1111.1111.1111 and 3782.822463.10005", "[card] and [card]"],
    ["card", "0.4111111111111111 4111.1111.1111.1111.1", "0.4111111111111111 4111.1111.1111.1111.1"],
    ["card", "４１１１ １１１１ １１１１ １１１１!", "[card]!"],
    ["card", "4111\u00a01111\u202f1111\u00a01111", "[card]"],
    ["email", "an ada@ex\u200bample.o\u00adrg, bitte", "an [email], bitte"],
    ["email", "für 𝟙 ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ", "für 𝟙 [email]"],
    ["email", "an joe\u0301@exa\u0308mple.org, bitte", "an [email], bitte"],
    ["email", "\ufdfa oﬃce@example.org\u200b \ufdfa", "\ufdfa [email]\u200b \ufdfa"],
    ["secrets", "g\u200bhp_0123456789abcdef ü", "[secret] ü"],
    ["secrets", "ｐａｓｓｗｏｒｄ＝ｈｕｎｔｅｒ２", "ｐａｓｓｗｏｒｄ＝[secret]"],
  ])("masks %s in %j", async (detect, value, expected) => {
    expect(await masked([detect], value)).toEqual(expected);
  });

  test("patterns of administrators match in linear time", async () => {
    const own = { name: "case", pattern: "CASE-[0-9]+" };
    expect(await masked([own, "email"], `CASE-17 of ${MAIL}`)).toBe("[case] of [email]");
    const slow = { name: "slow", pattern: "(a+)+b" };
    const began = performance.now();
    expect(await masked([slow], "a".repeat(50_000))).toBe("a".repeat(50_000));
    expect(performance.now() - began).toBeLessThan(5_000);
    for (const pattern of ["(", "(?=x)", "x*"]) {
      const entry = { use: "redact", detect: [{ name: "bad", pattern }] };
      await registry.prepare([entry]);
      expect(registry.check(entry)[0]?.path, pattern).toBe("/detect/0/pattern");
    }
  });

  test("masks only what the detectors name, and no images", async () => {
    expect(await masked(["card"], MAIL)).toBe(MAIL);
    const picture = { type: "image", data: Buffer.alloc(600, 7).toString("base64") };
    expect(await masked(["secrets", "phone", "card"], picture)).toEqual(picture);
  });
});

test("a secret is masked to its end wherever it lies in a long text", async () => {
  const long = `Bearer ${"a1".repeat(1_900)}`;
  for (let before = 28_000; before <= 33_000; before += 500) {
    const found = await masked(["secrets"], `${"x ".repeat(before / 2)}${long} end`);
    expect(found).toBe(`${"x ".repeat(before / 2)}[secret] end`);
  }
});

const SECRET = `ghp_${"a1".repeat(20)}`;
/** Looks like base64 of bytes. */
const LONG = `${SECRET}-${"A".repeat(300)}`;

test.each([
  ["a long text under data", { data: LONG }],
  ["a long text under blob", { blob: LONG }],
  ["nested", { a: [{ data: { blob: LONG } }] }],
  ["a block of text", { type: "text", data: LONG }],
  ["an image block whose data are no base64", { type: "image", data: LONG }],
  [
    "an image block whose data are an encoded text",
    { type: "image", data: Buffer.from(`it is ${SECRET}`).toString("base64") },
  ],
  [
    "an encoded text under data",
    { data: Buffer.from(`it is ${SECRET} ${"x".repeat(300)}`).toString("base64") },
  ],
  ["data beside an image", [{ type: "image", data: "AAAA" }, { data: LONG }]],
  [
    "data beside an image that look like its bytes",
    [{ type: "image", data: "AAAA" }, { data: `AKIAIOSFODNN7EXAMPLE/${"A".repeat(300)}` }],
  ],
  [
    "data inside of an image block",
    { type: "image", more: { data: `AKIAIOSFODNN7EXAMPLE/${"A".repeat(300)}` } },
  ],
])("masks a secret in %s", async (_where, value) => {
  const text = JSON.stringify(await masked(["secrets"], value));
  const decodedTexts = [...text.matchAll(/"((?:[A-Za-z\d+/]{4}){4,}={0,2})"/g)].map(([, one = ""]) =>
    Buffer.from(one, "base64").toString(),
  );
  expect([text, ...decodedTexts].join()).not.toMatch(/ghp_|AKIA/);
});

test.each([
  ["image", (data: string) => ({ type: "image", data, mimeType: "image/png" })],
  ["audio, with its type at the end", (data: string) => ({ data, mimeType: "audio/wav", type: "audio" })],
  ["file", (blob: string) => ({ uri: "file:///a", mimeType: "application/pdf", blob })],
  ["file, with its address at the end", (blob: string) => ({ blob, uri: "file:///a" })],
])("leaves the bytes of an %s unchanged, whatever they look like", async (_what, block) => {
  const bytes = Buffer.from(`AKIAIOSFODNN7EXAMPLE/${"A".repeat(300)}`, "base64");
  const value = [block(bytes.toString("base64"))];
  expect(await masked(["secrets", "phone", "card"], value)).toEqual(value);
});

test("searches texts in time that grows with their length", async () => {
  const seconds = async (value: unknown): Promise<number> => {
    await masked(["secrets", "email", "phone", "card", "iban"], value);
    const began = process.cpuUsage();
    await masked(["secrets", "email", "phone", "card", "iban"], value);
    const { user, system } = process.cpuUsage(began);
    return user + system;
  };
  const inputs = [
    (n: number) => "１２３４.".repeat(n),
    (n: number) => "a\u200b@".repeat(n),
    (n: number) => "4111.1111.".repeat(n),
    (n: number) => Array.from({ length: n / 100 }, () => ({ data: "A".repeat(300), x: 1 })),
    (n: number) => ({ secrets: Array.from({ length: n }, (_, at) => at) }),
  ];
  for (const make of inputs) {
    // Four times as long; sixteen if it were quadratic. A busy machine disturbs some of the attempts.
    const ratios: number[] = [];
    do {
      const short = await seconds(make(10_000));
      ratios.push((await seconds(make(40_000))) / short);
    } while (ratios.length < 6 && Math.min(...ratios) >= 12);
    expect(Math.min(...ratios), String(make)).toBeLessThan(12);
  }
});

async function answering(options: object, answer: (call: Call) => Promise<Raw>) {
  return await testPipeline([{ use: "redact", detect: ["email"], ...options }], answer);
}

describe("masked places", () => {
  test("arguments and results by default; values without a match keep their bytes", async () => {
    const { call, seen } = await answering({}, async () => raw(`{ "content":[{"text":"${MAIL}"}] ,"n":1.0}`));
    const result = await call({ written: `{ "to" : "${MAIL}", "n": 12345678901234567890 }` });
    expect(String(seen[0]?.params)).toContain('{ "to" : "[email]", "n": 12345678901234567890 }');
    expect(String(result)).toBe('{ "content":[{"text":"[email]"}] ,"n":1.0}');
    const plain = callOf({ written: '{ "n" : 1.0 }' });
    await call(plain);
    expect(seen[1]?.params).toBe(plain.params);
  });

  test.each([
    [["arguments"], "[email]", MAIL],
    [["results"], MAIL, "[email]"],
  ])("only %j", async (where, sent, came) => {
    const { call, seen } = await answering({ in: where }, async () => raw(`{"text":"${MAIL}"}`));
    expect(String(await call({ args: { to: MAIL } }))).toBe(`{"text":"${came}"}`);
    expect(String(seen[0]?.params)).toContain(sent);
  });

  test("errors of the server and our own errors, with their data and causes", async () => {
    const rpc = RpcError.of(-32_000, `no ${MAIL}`, { who: [MAIL] });
    const { call: first } = await answering({}, () => Promise.reject(rpc));
    const refused = await first().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RpcError);
    expect(String((refused as RpcError).raw)).not.toContain(MAIL);
    const cause = RpcError.of(-1, MAIL);
    const own = new MetaMcpError("execution_failed", `no ${MAIL}`, { server: "one", details: [MAIL], cause });
    const { call: second } = await answering({}, () => Promise.reject(own));
    const told = (await second().catch((error: unknown) => error)) as MetaMcpError;
    expect([told.code, told.message, told.context.details]).toEqual([
      "execution_failed",
      "no [email]",
      ["[email]"],
    ]);
    expect(String((told.context.cause as RpcError).raw)).not.toContain(MAIL);
  });

  test("progress, logs, questions, messages for several calls, and task states", async () => {
    const heard: string[] = [];
    const uplink = {
      notify: (_: string, params: Raw | undefined) => void heard.push(String(params)),
      request: async (_: string, params: Raw | undefined) => {
        heard.push(String(params));
        return raw("{}");
      },
    };
    const states: string[] = [];
    const taskRequest = {
      terms: raw("{}"),
      created: ({ state, meta }: { state: Raw; meta: Raw | undefined }) =>
        void states.push(String(state), String(meta)),
      declined: () => {},
      changed: (state: Raw) => void states.push(String(state)),
    };
    const { call } = await answering({ in: ["results"] }, async (made) => {
      made.uplink.notify("notifications/progress", raw(`{"progressToken":"${MAIL}","message":"${MAIL}"}`));
      made.uplink.notify("notifications/message", raw(`{"data":"${MAIL}"}`));
      await made.uplink.request("elicitation/create", raw(`{"message":"${MAIL}"}`), made.signal);
      heard.push(String(made.aside?.("notifications/message", raw(`{"data":"${MAIL}"}`))));
      made.task?.request?.created({
        state: raw(`{"s":"${MAIL}"}`),
        meta: raw(`{"m":"${MAIL}"}`),
        refresh: async () => {},
      });
      made.task?.request?.changed(raw(`{"s":"${MAIL}"}`));
      return raw(RESULT);
    });
    await call(callOf({ more: { uplink, task: { support: "optional", request: taskRequest } } }));
    // The progress token is from the client and must stay unchanged.
    expect(heard[0]).toBe(`{"progressToken":"${MAIL}","message":"[email]"}`);
    expect(heard.slice(1).join()).not.toContain(MAIL);
    expect(heard).toHaveLength(4);
    expect(states).toEqual(['{"s":"[email]"}', '{"m":"[email]"}', '{"s":"[email]"}']);
  });

  test("of a notification that is too large to be checked at once, the small parts are shown", async () => {
    const heard: string[] = [];
    const uplink = {
      ...callOf().uplink,
      notify: (_: string, params: Raw | undefined) => void heard.push(String(params)),
    };
    const { call } = await answering({ in: ["results"] }, async (made) => {
      const data = `${"x".repeat(70_000)} ${MAIL}`;
      made.uplink.notify("notifications/message", raw(JSON.stringify({ logger: MAIL, data })));
      return raw(RESULT);
    });
    await call(callOf({ more: { uplink } }));
    expect(heard).toEqual(['{"logger":"[email]","data":"[too large to be checked]"}']);
  });

  test("answers of people to a question of the server, if arguments are masked", async () => {
    const uplink = { notify: () => {}, request: async () => raw(`{"content":{"to":"${MAIL}"}}`) };
    const ask = async (options: object) => {
      const { call } = await answering(options, async (made) => {
        const answer = await made.uplink.request("elicitation/create", raw("{}"), made.signal);
        return raw(JSON.stringify({ length: answer.length }));
      });
      const made = callOf({ more: { uplink } });
      const origin = { ...made.origin, capabilities: raw(`{"elicitation":{}}`) };
      return await call({ ...made, origin }).then(String, String);
    };
    const whole = JSON.stringify({ length: `{"content":{"to":"${MAIL}"}}`.length });
    const hidden = JSON.stringify({ length: '{"content":{"to":"[email]"}}'.length });
    expect(await ask({ in: ["results"] })).toBe(whole);
    expect(await ask({ in: ["arguments"] })).toBe(hidden);
    expect(await ask({})).toBe(hidden);
    expect(await ask({ action: "block" })).toContain("The arguments contain data");
  });

  test("resources, prompts and completions", async () => {
    const { call } = await answering({}, async () => raw(`{"contents":[{"text":"${MAIL}"}]}`));
    for (const method of ["resources/read", "prompts/get", "completion/complete"])
      expect(String(await call({ more: { method } }))).toContain("[email]");
  });

  test("blobs of resources that are text; other blobs stay unchanged", async () => {
    const blobs = (bytes: Buffer) => raw(JSON.stringify({ contents: [{ blob: bytes.toString("base64") }] }));
    const read = async (bytes: Buffer) => {
      const { call } = await answering({}, async () => blobs(bytes));
      return JSON.parse(String(await call({ more: { method: "resources/read" } }))).contents[0].blob;
    };
    for (const text of [`of ${MAIL}`, `${"Zeile für Zeile\n".repeat(1_000)}${MAIL}`])
      expect(Buffer.from(await read(Buffer.from(text)), "base64").toString()).toBe(
        text.replace(MAIL, "[email]"),
      );
    const picture = Buffer.concat([Buffer.from([0x89, 0x50]), Buffer.from(`png ${MAIL}`)]);
    expect(await read(picture)).toBe(picture.toString("base64"));
  });

  test("arguments of a completion request", async () => {
    const { call, seen } = await answering({}, async () => raw("{}"));
    const argument = { name: "to", value: MAIL };
    const params = raw(JSON.stringify({ ref: {}, argument, context: { arguments: { cc: MAIL } } }));
    await call({ more: { method: "completion/complete", params } });
    expect(String(seen[0]?.params)).not.toContain(MAIL);
  });

  test("a large result, in steps that do not block the event loop", async () => {
    const text = `${"x".repeat(3_000_000)} ${MAIL}`;
    const { call } = await answering({}, async () => raw(JSON.stringify({ text })));
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    expect(String(await call())).toContain("[email]");
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });
});

test("block refuses a call because of its arguments before it is sent, and because of its result before it is returned", async () => {
  const { call, seen } = await answering({ action: "block" }, async () => raw(`{"text":"${MAIL}"}`));
  const trail = newTrail();
  await expect(call(callOf({ args: { to: MAIL }, more: { trail } }))).rejects.toMatchObject({
    code: "forbidden",
    message: "The arguments contain data that is not allowed here: email.",
  });
  expect(seen).toHaveLength(0);
  expect(String(trail.arguments), "the trail contains no more than the server got").not.toContain(MAIL);
  await expect(call()).rejects.toThrow("The results contain data that is not allowed here: email.");
  expect(seen).toHaveLength(1);
});
