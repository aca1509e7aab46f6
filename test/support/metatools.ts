/** A client of the metatools surface that validates every result against the output schema of its tool. */
import { fileURLToPath } from "node:url";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { ERRORS } from "../../src/kernel/errors.ts";
import { gateway } from "./gateway.ts";
import type { RawClient } from "./raw-client.ts";
import type { Temp } from "./temp.ts";

export const VERBATIM = fileURLToPath(new URL("../fixture/verbatim.mjs", import.meta.url));

export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly tool_id?: string;
  readonly server?: string;
  readonly op?: string;
  readonly step_index?: number;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Record<string, unknown> & { readonly cause?: ShownError };
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly uri?: string;
}

/** A validated result. */
export interface MetatoolsResult {
  /** The structured content. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field.
  readonly value: any;
  readonly error: ShownError | undefined;
  readonly text: string;
  readonly content: readonly Block[];
  readonly meta: Record<string, unknown> | undefined;
  readonly bytes: number;
}

interface Definition {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
}

export class Metatools {
  readonly client: RawClient;
  readonly definitions: readonly Definition[];
  readonly #checks = new Map<string, ValidateFunction>();

  private constructor(client: RawClient, definitions: readonly Definition[]) {
    this.client = client;
    this.definitions = definitions;
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });
    for (const { name, outputSchema } of definitions) this.#checks.set(name, ajv.compile(outputSchema));
  }

  static async open(
    folder: Temp,
    options: { flags?: string[]; capabilities?: object } = {},
  ): Promise<Metatools> {
    const flags = ["--surface", "metatools", "--log-level", "error", ...(options.flags ?? [])];
    const client = gateway(folder, { flags });
    await client.initialize(options.capabilities);
    const { result } = await client.request("tools/list");
    return new Metatools(client, (result as { tools: readonly Definition[] }).tools);
  }

  /** Throws for a JSON-RPC error and for a result that does not match the output schema. */
  async call(name: string, args: object = {}, _meta?: object): Promise<MetatoolsResult> {
    const { raw, result, error } = await this.client.request("tools/call", { name, arguments: args, _meta });
    if (!result) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return this.read(name, result, raw.length);
  }

  read(name: string, result: Record<string, unknown>, bytes = 0): MetatoolsResult {
    const value = result["structuredContent"] as Record<string, unknown>;
    const check = this.#checks.get(name) as ValidateFunction;
    if (!check(value))
      throw new Error(`${name}: ${JSON.stringify(check.errors)} ${JSON.stringify(value).slice(0, 2_000)}`);
    for (const error of errorsIn(value)) expect(Object.keys(ERRORS)).toContain(error.code);
    const error = value["error"] as ShownError | undefined;
    expect(result["isError"] ?? false).toBe(error !== undefined);
    const content = result["content"] as Block[];
    for (const block of content) expect(block).toMatchObject({ type: expect.any(String) });
    const meta = result["_meta"] as Record<string, unknown> | undefined;
    if (meta !== undefined) expect(Object.prototype.toString.call(meta)).toBe("[object Object]");
    const text = content[0]?.text ?? "";
    if (!error && !this.isTextOnly(value, text)) expect(JSON.parse(text)).toEqual(value);
    return { value, error, content, meta, bytes, text };
  }

  /** Whether the text is not the JSON of the structured content: it is a plain text, a preview or a page. */
  private isTextOnly(value: Record<string, unknown>, text: string): boolean {
    const { structured } = value;
    const isPage = /^\{("next":"metamcp:[^"]*")?\}$/.test(JSON.stringify(structured) ?? "");
    return (
      structured === text ||
      isPage ||
      /^This result has [\d,]+ bytes; maxResultBytes is [\d,]+\. Only a preview/.test(text)
    );
  }

  /** The JSON-RPC error of a call. */
  async refused(name: string, args: object): Promise<{ code: number; message: string } | undefined> {
    return (await this.client.request("tools/call", { name, arguments: args })).error;
  }

  close(): ReturnType<RawClient["close"]> {
    return this.client.close();
  }
}

/** All errors in a result, including those of steps and causes. */
function errorsIn(value: unknown): readonly ShownError[] {
  if (typeof value !== "object" || value === null) return [];
  const { error, cause } = value as { error?: ShownError; cause?: ShownError };
  const errors = [error, cause].filter(
    (one) => typeof one?.code === "string" && typeof one.retryable === "boolean",
  );
  return [...(errors as ShownError[]), ...Object.values(value).flatMap(errorsIn)];
}

/** A config entry for the server whose tool returns the result that it gets as an argument. */
export function verbatim(folder: Temp, tools: readonly object[] = []): { command: string; args: string[] } {
  return { command: process.execPath, args: [VERBATIM, folder.write("tools.json", JSON.stringify(tools))] };
}

/** Arguments of run_tool that make the verbatim server return exactly this result. */
export function runVerbatim(result: unknown): { tool_id: string; args: { result: string } } {
  return {
    tool_id: "v:give",
    args: { result: typeof result === "string" ? result : JSON.stringify(result) },
  };
}
