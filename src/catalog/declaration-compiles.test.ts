import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { declarationOf } from "./declaration.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

const CAPTURED = new URL("../../test/golden-retrieval/tools/", import.meta.url);

interface Captured {
  readonly server: string;
  readonly tools: readonly object[];
}

/** The compiler's diagnostics for these modules. */
function problemsOf(modules: ReadonlyMap<string, string>): string[] {
  const host = ts.createCompilerHost({});
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) => {
    const text = modules.get(name);
    return text === undefined
      ? getSourceFile.call(host, name, ...rest)
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2023);
  };
  host.fileExists = (name) => modules.has(name) || fileExists.call(host, name);
  host.readFile = (name) => modules.get(name) ?? readFile.call(host, name);
  const options = { strict: true, noEmit: true, lib: ["lib.es2023.d.ts"], types: [] };
  const program = ts.createProgram([...modules.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
}

const moduleOf = (declaration: string): string =>
  `${declaration.replace(/^function /m, "export declare function ")};`;

test("the declarations of all tools of many real servers compile", { timeout: 120_000 }, () => {
  const modules = new Map<string, string>();
  const files = readdirSync(CAPTURED);
  expect(files.length).toBeGreaterThanOrEqual(10);
  for (const file of files) {
    const { server, tools } = JSON.parse(readFileSync(new URL(file, CAPTURED), "utf8")) as Captured;
    for (const [at, definition] of tools.entries()) {
      const tool = readTool(server, toRaw(definition)) as Tool;
      modules.set(`/${server}-${at}.ts`, moduleOf(declarationOf(tool)));
    }
  }
  expect(modules.size).toBeGreaterThan(200);
  expect(problemsOf(modules)).toEqual([]);
});

test("the declarations of hostile and odd schemas compile, and no text breaks out of its comment or string", {
  timeout: 120_000,
}, () => {
  const evil = "*/ }; declare const broken: number; /* \u2028\n // ";
  const schemas: readonly unknown[] = [
    { type: "object", properties: { [evil]: { type: "string", description: evil }, "": { const: evil } } },
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/n" } },
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } },
    },
    {
      type: "object",
      properties: { a: { enum: [evil, null, 1, { x: 1 }, ["y"]] } },
      additionalProperties: { type: "number" },
    },
    {
      type: "object",
      properties: { a: { anyOf: [{ type: "string" }, { allOf: [{ type: "object" }, { $ref: "#" }] }] } },
    },
    {
      type: "object",
      properties: {
        a: { type: "array", items: { type: ["string", "null"] } },
        b: { type: "array", items: [{ type: "string" }, { type: "number" }] },
      },
    },
    { type: evil, properties: "nonsense", required: 5 },
  ];
  const names = ["delete", "get-it", "a.b", evil, "1st", "await", "ok"];
  const modules = new Map<string, string>();
  for (const [s, inputSchema] of schemas.entries()) {
    for (const [n, name] of names.entries()) {
      const tool = readTool(
        "s",
        toRaw({ name, description: evil, inputSchema, outputSchema: inputSchema }),
      ) as Tool;
      modules.set(`/${s}-${n}.ts`, moduleOf(declarationOf(tool)));
    }
  }
  expect(problemsOf(modules)).toEqual([]);
  expect([...modules.values()].filter((text) => /^\s*declare const broken/m.test(text))).toEqual([]);
});
