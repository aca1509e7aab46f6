/**
 * Tests that every backend must pass. For another implementation: `executorContract("mine", () =>
 * createMine())`.
 */
import { afterAll, describe, expect, test } from "vitest";
import { CallSignal } from "../kernel/signal.ts";
import { VALUES } from "./contract-values.ts";
import type { Executor, OutCall } from "./executor.ts";
import { type RunOptions, tryRun, valueIn } from "./try-run.ts";

export function executorContract(name: string, create: () => Executor): void {
  describe(name, () => {
    const executor = create();
    afterAll(() => executor.close());
    const run = (code: string, options?: RunOptions) => tryRun(executor, code, options);

    test.each(VALUES)("%s", async (code, value) => {
      expect(valueIn(await run(code))).toEqual(value);
    });

    test("a tool call returns its structured content, else its text parsed as JSON, else its text, else its content", async () => {
      const results: Record<string, unknown> = {
        json: { content: [{ type: "text", text: '{"a": [1]}' }] },
        text: { content: [{ type: "text", text: "plain" }] },
        broken: { content: [{ type: "text", text: "{plain" }] },
        image: { content: [{ type: "image", data: "" }] },
        failed: { isError: true, content: [{ type: "text", text: "no such thing" }] },
      };
      const call = ({ tool }: OutCall) => Promise.resolve(JSON.stringify(results[tool]));
      const code =
        "[await tools.a.json(), await tools.a.text(), await tools.a.broken(), await tools.a.image()]";
      expect(valueIn(await run(code, { call }))).toEqual([
        { a: [1] },
        "plain",
        "{plain",
        [{ type: "image", data: "" }],
      ]);
      const caught = "await tools.a.failed().catch((e) => [e.name, e.message, e.code, e instanceof Error])";
      const failed = await run(caught, { call });
      expect(valueIn(failed)).toEqual(["ToolError", "no such thing", "execution_failed", true]);
      expect(failed.calls).toMatchObject([{ tool: "failed", error: "execution_failed" }]);
    });

    test("an error has its line, and the outcome has the logs and calls before it", async () => {
      const outcome = await run("console.log('first')\nawait tools.a.x()\n\nconst y = nothing.there");
      expect(outcome.error).toMatchObject({ code: "execution_failed", name: "ReferenceError", line: 4 });
      expect(outcome.error?.message).toContain("nothing is not defined");
      expect(outcome.logs).toEqual([{ level: "log", text: "first" }]);
      expect(outcome.calls).toMatchObject([{ server: "a", tool: "x" }]);
      expect((await run("if (0) return 1\n\nthrow new TypeError('t')")).error?.line).toBe(3);
      expect((await run("const n: number = 1\ninterface X {}\nnull.x")).error?.line).toBe(3);
      expect((await run("1 +\n\n* 2")).error).toMatchObject({ name: "SyntaxError", line: 3 });
      expect((await run("if (0) return 1\nconst x = (1 + 2;\nx")).error?.line).toBe(2);
      expect((await run("const n: number = 1\nconst x = (n + 2;\nx")).error?.line).toBe(2);
      expect((await run("throw { odd: 1 }")).error?.message).toContain("odd: 1");
    });

    test.each([
      ["const x = {};\nconst y = JSON.stringify(x.foo(3))", "x.foo is not a function"],
      [
        "const list = await tools.a.echo({});\nif (1) return list.map((x) => x)",
        "list.map is not a function",
      ],
      ["const o: { a: any } = { a: {} };\no.a.b()", "o.a.b is not a function"],
      ["let f; f()", "f is not a function"],
    ])("a not-a-function error names the called expression: %s", async (code, named) => {
      expect((await run(code)).error?.message).toContain(named);
    });

    test.each([
      ["null", "null"],
      ["7", "a number"],
      ["[]", "a list of 0"],
      ['{"content":"text"}', "its content is a string"],
      ['{"content":{}}', "its content is {}"],
    ])("a malformed result settles with its shape: %s", async (written, shape) => {
      const call = () => Promise.resolve(written);
      const { error } = await run("await tools.a.odd()", { call });
      expect(error).toMatchObject({ code: "execution_failed", name: "ToolError", line: 1 });
      expect(error?.message).toContain("a:odd answered with an invalid result");
      expect(error?.message).toContain(shape);
      expect((await run("await servers.a.call('odd')", { call })).value).toBe(written);
    });

    test("integers beyond 2^53 keep their digits, in results, arguments and values", async () => {
      const given: string[] = [];
      const call = ({ args, tool }: OutCall) => {
        given.push(args);
        const value =
          '{"id":12345678901234567890,"n":-98765432109876543210,"safe":9007199254740991,"f":1.5,"t":"12345678901234567890\\""}';
        return Promise.resolve(
          tool === "text"
            ? JSON.stringify({ content: [{ type: "text", text: value }] })
            : `{"structuredContent":${value}}`,
        );
      };
      for (const tool of ["value", "text"]) {
        const code = `const r = await tools.a.${tool}(); await tools.a.next({ r }); console.log(r.id, typeof r.id, typeof r.safe, r.id === 12345678901234567890n); r`;
        const outcome = await run(code, { call });
        const whole =
          '{"id":12345678901234567890,"n":-98765432109876543210,"safe":9007199254740991,"f":1.5,"t":"12345678901234567890\\""}';
        expect(outcome.value).toBe(whole);
        expect(given.at(-1)).toBe(`{"r":${whole}}`);
        expect(outcome.logs[0]?.text).toBe("12345678901234567890n bigint number true");
      }
      expect((await run("JSON.stringify({ n: 5n })")).value).toBe('"{\\"n\\":\\"5\\"}"');
    });

    test("a missing await and a wrong shape are named in the logs", async () => {
      const logged = async (code: string) => (await run(code)).logs.map(({ text }) => text).join();
      expect(await logged("tools.a.echo({}).args")).toBe(
        "A call without await has no .args: write (await tools.a.echo(…)).args",
      );
      expect(await logged("const all = tools.a.echo({}).map((x) => x); all")).toContain(
        "(await tools.a.echo(…)).map",
      );
      expect(await logged("servers.a.call('echo', {}).content")).toContain(
        "(await servers.a.call(…)).content",
      );
      expect(await logged("tools.a.echo({}); undefined")).toContain("while 1 calls were running: await them");
      expect(await logged("const r = await tools.a.echo({}); r.items.map((x) => x)")).toBe(
        "a:echo returned {server: string, tool: string, args: object}.",
      );
      expect(
        await logged(
          "const [p, q] = await Promise.all([tools.a.echo({}), tools.a.echo({}).catch(() => 0)]); [p.tool, q.tool]",
        ),
      ).toBe("");
    });

    test("the run fails with the limit that a call exceeded, if the code does not catch it", async () => {
      const limits = { calls: 1, argsBytes: 100, resultBytes: 300 };
      const ended = async (code: string) => (await run(code, { limits })).error;
      const twice = await ended("await tools.a.x()\nawait tools.a.x()");
      expect(twice).toMatchObject({ code: "sandbox_limit", limit: "calls", line: 2 });
      const args = await ended("await tools.a.x({ s: 'x'.repeat(200) })");
      expect(args).toMatchObject({ code: "sandbox_limit", limit: "argsBytes" });
      const big = () => Promise.resolve(JSON.stringify("x".repeat(400)));
      const result = (await run("await tools.a.x()", { limits, call: big })).error;
      expect(result).toMatchObject({ code: "sandbox_limit", limit: "resultBytes" });
    });

    test("the error of a failed tool call has the line of the call", async () => {
      const failed = '{"isError": true, "content": [{"type": "text", "text": "no"}]}';
      const call = async ({ tool }: OutCall) => (tool === "says" ? failed : Promise.reject(new Error("no")));
      const lineIn = async (code: string) => (await run(code, { call })).error?.line;
      expect(await lineIn("const a = 1\nawait tools.a.says()\na")).toBe(2);
      expect(await lineIn("const f = async () =>\n  await tools.a.gone()\n\nawait f()")).toBe(2);
    });

    test("logs show objects in readable form", async () => {
      const { logs } = await run(
        "console.log('a', { b: [1, 'x', null, undefined, 2n], f() {} });\nconsole.warn(new Error('e'), new Map([['k', new Set([1])]]));\nconst o = { o: 1 }; o.o = o; console.error(o, [[[[[[1]]]]]], Symbol('s'))",
      );
      expect(logs).toEqual([
        { level: "log", text: 'a {b: [1, "x", null, undefined, 2n], f: [Function f]}' },
        { level: "warn", text: 'Error: e Map(1) {"k" => Set(1) {1}}' },
        { level: "error", text: "{o: [Circular]} [[[[[[…]]]]]] Symbol(s)" },
      ]);
    });

    test("the run waits for calls without await, and logs unhandled rejections", async () => {
      const ended: string[] = [];
      const call = async ({ tool }: OutCall): Promise<string> => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        ended.push(tool);
        return '{"content":[]}';
      };
      const outcome = await run(
        "tools.a.one().then(() => { tools.a.two() });\nPromise.reject(new Error('nobody'));\n'value'",
        { call },
      );
      expect(valueIn(outcome)).toBe("value");
      expect(ended).toEqual(["one", "two"]);
      expect(outcome.logs).toMatchObject([
        { level: "error", text: expect.stringContaining("nobody") as string },
      ]);
      const handled = await run(
        "const p = Promise.reject(1);\nawait sleep(5);\nawait p.catch(() => 'late but caught')",
      );
      expect(handled).toMatchObject({ value: '"late but caught"', logs: [] });
    });

    test("calls in flight are cancelled when the code throws", async () => {
      let reason: unknown;
      const call = ({ signal }: OutCall): Promise<string> =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(new Error("aborted"));
          });
        });
      const outcome = await run("tools.a.hang();\nawait sleep(5);\nthrow new Error('stop')", { call });
      expect(outcome.error?.message).toContain("stop");
      expect(outcome.calls).toMatchObject([{ tool: "hang", error: "cancelled" }]);
      expect(reason).toBeInstanceOf(Error);
    });

    test("a refused call throws an error with code and message", async () => {
      const call = () =>
        Promise.reject(Object.assign(new Error("no tool x; nearest: y"), { code: "tool_not_found" }));
      const outcome = await run("try { await tools.a.x() } catch (e) { return e.code + ' ' + e.message }", {
        call,
      });
      expect(valueIn(outcome)).toBe("tool_not_found no tool x; nearest: y");
      expect(outcome.calls).toMatchObject([{ error: "tool_not_found" }]);
    });

    test("progress is reported to the caller of the run", async () => {
      const seen: unknown[] = [];
      await run("progress(1, 2, 'half'); await sleep(150); progress(2, 2)", {
        progress: (one) => void seen.push(one),
      });
      expect(seen).toMatchObject([
        { done: 1, total: 2, message: "half" },
        { done: 2, total: 2 },
      ]);
    });

    test("limits time, calls, calls in flight, arguments, results, logs, value and code", async () => {
      const started = performance.now();
      const slow = await run("console.log('here'); await new Promise(() => {})", {
        limits: { wallMs: 1_500 },
      });
      expect(slow.error).toMatchObject({ code: "sandbox_limit", limit: "wallMs" });
      expect(slow.logs).toEqual([{ level: "log", text: "here" }]);
      expect(performance.now() - started).toBeGreaterThan(1_400);

      const calls = await run(
        "const r = []; for (let i = 0; i < 4; i++) r.push(await tools.a.x().then(() => 1, (e) => e.code)); r",
        { limits: { calls: 2 } },
      );
      expect(valueIn(calls)).toEqual([1, 1, "sandbox_limit", "sandbox_limit"]);
      expect(calls.calls).toHaveLength(2);

      let now = 0;
      let most = 0;
      const count = async (): Promise<string> => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 2));
        now--;
        return "{}";
      };
      await run("await Promise.all(Array.from({ length: 20 }, () => servers.a.call('x')))", {
        call: count,
        limits: { callsInFlight: 3 },
      });
      expect(most).toBe(3);

      const limits = { argsBytes: 100, resultBytes: 100 };
      expect(
        valueIn(await run("await tools.a.x({ s: 'x'.repeat(200) }).catch((e) => e.code)", { limits })),
      ).toBe("sandbox_limit");
      const big = () => Promise.resolve(JSON.stringify("x".repeat(200)));
      expect(valueIn(await run("await tools.a.x().catch((e) => e.code)", { limits, call: big }))).toBe(
        "result_too_large",
      );

      const { logs } = await run("for (let i = 0; i < 100; i++) console.log('x'.repeat(99))", {
        limits: { logBytes: 1_000 },
      });
      expect(logs.length).toBeLessThanOrEqual(11);
      expect(logs.at(-1)?.text).toContain("not kept");
      expect((await run("'x'.repeat(2000)", { limits: { valueBytes: 1_000 } })).error?.limit).toBe(
        "valueBytes",
      );
      expect((await run(`1${" ".repeat(200)}`, { limits: { codeBytes: 100 } })).error?.limit).toBe(
        "codeBytes",
      );
    });

    test("the time limit is paused while a call holds it, and continues after that", async () => {
      const call = async ({ tool, hold }: OutCall): Promise<string> => {
        const release = tool === "ask" ? hold() : () => {};
        await new Promise((resolve) => setTimeout(resolve, 1_800));
        release();
        return '{"content":[],"structuredContent":"yes"}';
      };
      const limits = { wallMs: 1_500 };
      expect(
        valueIn(await run("await Promise.all([tools.a.ask(), tools.a.ask()])", { call, limits })),
      ).toEqual(["yes", "yes"]);
      expect((await run("await tools.a.ask(); await tools.a.other()", { call, limits })).error?.limit).toBe(
        "wallMs",
      );
    });

    test("an endless loop is stopped, and the next run works", async () => {
      const outcome = await run("console.log('before'); for (;;);", {
        limits: { cpuMs: 200, wallMs: 5_000 },
      });
      expect(outcome.error?.code).toBe("sandbox_limit");
      expect(outcome.logs).toEqual([{ level: "log", text: "before" }]);
      expect(valueIn(await run("1"))).toBe(1);
    });

    test("cancelling ends the run and its calls in flight", async () => {
      const signal = new CallSignal();
      let aborted = false;
      const call = (one: OutCall): Promise<string> =>
        new Promise((_, reject) => {
          one.signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("aborted"));
          });
          signal.abort(new Error("changed my mind"));
        });
      const outcome = await run("await tools.a.hang()", { call, signal });
      expect(outcome.error?.code).toBe("cancelled");
      expect(aborted).toBe(true);
      const early = new CallSignal();
      early.abort(new Error("never"));
      expect((await run("1", { signal: early })).error?.code).toBe("cancelled");
    });

    test("the outcome names the backend and the enforced limits", async () => {
      const outcome = await run("1");
      expect(outcome.backend).not.toBe("");
      expect(outcome.enforced).toContain("wallMs");
      expect(outcome.durationMs).toBeGreaterThanOrEqual(0);
    });
  });
}
