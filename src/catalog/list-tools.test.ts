import { describe, expect, test } from "vitest";
import { MetaMcpError } from "../kernel/errors.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { type Ask, listTools } from "./list-tools.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const named = (...names: string[]): object[] =>
  names.map((name) => ({ name, inputSchema: { type: "object" } }));

/** A child that returns pages by cursor; "first" is the page of the first request. */
function child(pages: Record<string, unknown>): Ask & { asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const ask: Ask = async (method, params) => {
    expect(method).toBe("tools/list");
    asked.push(params?.toString());
    const cursor = params ? (fromRaw(params) as { cursor: string }).cursor : "first";
    const page = pages[cursor];
    if (page instanceof Error) throw page;
    return toRaw(page);
  };
  return Object.assign(ask, { asked });
}

async function listed(ask: Ask): Promise<{ names: string[]; problems: string[] }> {
  const problems: string[] = [];
  const tools = await listTools("s", ask, (problem) => problems.push(problem));
  return { names: tools.map((tool) => tool.name), problems };
}

describe("pages", () => {
  test("are all read in order, and each cursor is sent back", async () => {
    const ask = child({
      first: { tools: named("a"), nextCursor: "2" },
      2: { tools: named("b", "c"), nextCursor: "3" },
      3: { tools: [], nextCursor: null },
    });
    expect(await listed(ask)).toEqual({ names: ["a", "b", "c"], problems: [] });
    expect(ask.asked).toEqual([undefined, '{"cursor":"2"}', '{"cursor":"3"}']);
  });

  test("a cursor is sent back as written", async () => {
    const asked: string[] = [];
    await listTools("s", async (_, params) => {
      if (params) asked.push(params.toString());
      return raw(params ? '{"tools":[]}' : '{"tools":[],"nextCursor":12345678901234567890}');
    });
    expect(asked).toEqual(['{"cursor":12345678901234567890}']);
  });

  test("an empty cursor is a cursor", async () => {
    const ask = child({ first: { tools: named("a"), nextCursor: "" }, "": { tools: named("b") } });
    expect((await listed(ask)).names).toEqual(["a", "b"]);
  });

  test("an empty cursor that the child rejects ends the list", async () => {
    const ask = child({
      first: { tools: named("a"), nextCursor: "" },
      "": RpcError.of(-32602, "bad cursor"),
    });
    expect((await listed(ask)).names).toEqual(["a"]);
  });

  test("a cursor that leads to the same page ends the list and is reported", async () => {
    const page = { tools: named("a", "b"), nextCursor: "x" };
    const { names, problems } = await listed(child({ first: page, x: page }));
    expect(names).toEqual(["a", "b"]);
    expect(problems[0]).toContain("after the last page");
  });

  test("a repeated cursor with new tools is an error", async () => {
    const ask = child({
      first: { tools: named("a"), nextCursor: "x" },
      x: { tools: named("b"), nextCursor: "y" },
      y: { tools: named("c"), nextCursor: "x" },
    });
    await expect(listed(ask)).rejects.toThrow(/"s" repeats a cursor/);
  });

  test("more than 1,000 pages are an error", async () => {
    let page = 0;
    const ask: Ask = async () => toRaw({ tools: named(`t${page}`), nextCursor: `${++page}` });
    await expect(listTools("s", ask)).rejects.toThrow(/more than 1000 pages/);
    expect(page).toBe(1000);
  });

  test("exactly 1,000 pages are accepted", async () => {
    let page = 0;
    const ask: Ask = async () => {
      page += 1;
      return toRaw({ tools: named(`t${page}`), ...(page < 1000 ? { nextCursor: `${page}` } : {}) });
    };
    expect(await listTools("s", ask)).toHaveLength(1000);
  });

  test("more than 50,000 tools are an error", async () => {
    const names = Array.from({ length: 50_001 }, (_, at) => `t${at}`);
    const error = await listTools("s", child({ first: { tools: named(...names) } })).catch(
      (caught) => caught,
    );
    expect(MetaMcpError.is(error)).toBe(true);
    expect(error.message).toMatch(/more than 50000 tools/);
    expect(await listTools("s", child({ first: { tools: named(...names.slice(1)) } }))).toHaveLength(50_000);
  });
});

test("a list of more than 128 MiB is an error", async () => {
  const page = Buffer.alloc(68_000_000, "x");
  page.write('{"nextCursor":"2","tools":["');
  page.write('"]}', page.length - 3);
  let pages = 0;
  const ask: Ask = async () => {
    pages += 1;
    page.write(`${pages}`, '{"nextCursor":"'.length);
    return asRaw(page);
  };
  await expect(listTools("s", ask)).rejects.toThrow(/larger than 134217728 bytes/);
  expect(pages).toBe(2);
});

describe("unusual answers", () => {
  test("a child without tools/list has no tools", async () => {
    expect(await listTools("s", child({ first: RpcError.of(-32601, "Method not found") }))).toEqual([]);
  });

  test("other errors are passed to the caller", async () => {
    const error = RpcError.of(-32603, "no");
    await expect(listTools("s", child({ first: error }))).rejects.toBe(error);
    const later = child({ first: { tools: [], nextCursor: "x" }, x: error });
    await expect(listTools("s", later)).rejects.toBe(error);
  });

  test.each(["null", "[]", "{}", '{"tools":{}}', '{"tools":null}', '"x"', "7"])(
    "the answer %s is an error",
    async (text) => {
      await expect(listTools("s", async () => raw(text))).rejects.toThrow(/"s" contains no list of tools/);
    },
  );

  test("entries that are not tools are skipped and reported once", async () => {
    const odd = [null, 1, "a", [], {}, { name: 7 }, { name: "" }, { name: "n".repeat(513) }];
    const { names, problems } = await listed(child({ first: { tools: [...odd, ...named("good"), ...odd] } }));
    expect(names).toEqual(["good"]);
    expect(problems).toEqual(["16 entries of its tools/list cannot be used: 16 without a usable name"]);
  });

  test("of two tools with the same name the first is used, and the duplicate is reported", async () => {
    const inputSchema = { type: "object" };
    const tools = [
      { name: "a", description: "first", inputSchema },
      { name: "b", inputSchema },
      { name: "a", description: "second", inputSchema },
    ];
    const problems: string[] = [];
    const found = await listTools("s", child({ first: { tools } }), (problem) => problems.push(problem));
    expect(found.map((tool) => [tool.name, tool.description])).toEqual([
      ["a", "first"],
      ["b", ""],
    ]);
    expect(problems).toEqual(["it lists these twice, the first one is used: a"]);
  });
});

describe("tool definitions", () => {
  const one = async (definition: string) => {
    const [tool] = await listTools("s", async () => raw(`{"tools":[ ${definition} ]}`));
    if (!tool) throw new Error("no tool");
    return tool;
  };

  test("are kept as written", async () => {
    const definition = `{ "name":"a","x-new" : {"n":12345678901234567890, "s":"\\u00e9\\/" },
      "inputSchema":{"type":"object","properties":{"n":{"default":98765432109876543210}}} }`;
    const tool = await one(definition);
    expect(tool.definition.toString()).toBe(definition);
    expect(tool.inputSchema.toString()).toBe(
      '{"type":"object","properties":{"n":{"default":98765432109876543210}}}',
    );
  });

  test("do not keep the buffer of the message in memory", async () => {
    const message = raw(`{"tools":[{"name":"a"}],"padding":"${"x".repeat(100_000)}"}`);
    const [tool] = await listTools("s", async () => message);
    expect(tool?.definition.buffer).not.toBe(message.buffer);
  });

  test.each(["", ',"inputSchema":null', ',"inputSchema":true', ',"inputSchema":[]'])(
    "without a valid input schema accept any object: %s",
    async (more) => {
      const tool = await one(`{"name":"a"${more}}`);
      expect(fromRaw(tool.inputSchema)).toEqual({ type: "object" });
    },
  );

  test("titles and hints of the wrong type are ignored", async () => {
    const tool = await one(
      '{"name":"a","description":5,"annotations":{"title":"T","readOnlyHint":true,"idempotentHint":"yes","__proto__":{"destructiveHint":true}}}',
    );
    expect(tool).toMatchObject({
      title: "T",
      description: "",
      annotations: { title: "T", readOnlyHint: true },
    });
    expect(tool.annotations.idempotentHint).toBeUndefined();
    expect(tool.annotations.destructiveHint).toBeUndefined();
    expect((await one('{"name":"a","title":"own","annotations":{"title":"T"}}')).title).toBe("own");
  });

  test("with deep nesting, long texts or __proto__ do no harm", async () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const tool = await one(
      `{"__proto__":{"polluted":1},"name":"__proto__","description":"x${"😀".repeat(500_000)}","inputSchema":{"deep":${deep}}}`,
    );
    expect(tool.name).toBe("__proto__");
    expect(tool.description.length).toBeLessThanOrEqual(10_240);
    expect(tool.description).toBe(`x${"😀".repeat((tool.description.length - 1) / 2)}`);
    expect(tool.definition.length).toBeGreaterThan(2_000_000);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
