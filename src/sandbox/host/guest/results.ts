/**
 * Reads results of tools and makes the errors of failed ones. Sent into the sandbox as source text, so it
 * must not refer to anything outside itself.
 */
import type { Bridge } from "./bridge.ts";
import type { Values } from "./values.ts";

export interface Results {
  /** Parses a result. `ok` as in `Controls.settle`. */
  readonly received: (json: string, ok: string) => unknown;
  readonly valueIn: (result: unknown, name: string, callSite: Error) => unknown;
  readonly toolError: (message: string, callSite: Error, more: object) => Error;
}

export function results(bridge: Bridge, { parseMarked, shapeOf }: Values): Results {
  const { parse } = JSON;
  const { isArray } = Array;

  class ToolError extends Error {
    override name = "ToolError";
  }

  /**
   * An error with the stack of `callSite`, because the stack at the time of the failure does not contain the
   * call.
   */
  function toolError(message: string, callSite: Error, more: object): Error {
    const { stack } = callSite;
    return Object.assign(new ToolError(message), more, typeof stack === "string" ? { stack } : {});
  }

  interface Block {
    readonly type?: string;
    readonly text?: string;
  }
  interface Result {
    readonly isError?: boolean;
    readonly content?: readonly Block[];
    readonly structuredContent?: unknown;
  }

  /** Parses JSON. Integers that a number cannot hold become BigInts; the host finds them. */
  function parseExact(json: string): unknown {
    const found = bridge("integers", json, "", "");
    return found === "" ? parse(json) : parseMarked(found);
  }
  /** Results that contain long integers. */
  const withIntegers = new WeakSet<object>();

  function received(json: string, ok: string): unknown {
    if (ok !== "integers") return parse(json);
    const value = parseExact(json);
    if (typeof value === "object" && value !== null) withIntegers.add(value);
    return value;
  }

  function malformed(name: string, what: string, callSite: Error): Error {
    return toolError(`${name} answered with an invalid result: ${what}`, callSite, {
      code: "execution_failed",
    });
  }

  /**
   * The value of a result: its structured content, else its only text (parsed if it is JSON), else its
   * content.
   */
  function valueIn(result: unknown, name: string, callSite: Error): unknown {
    if (typeof result !== "object" || result === null || isArray(result))
      throw malformed(name, `it is ${shapeOf(result)} and not an object with content`, callSite);
    const { isError, content: written, structuredContent } = result as Result;
    if (!isError && structuredContent !== undefined) return structuredContent;
    const content = written ?? [];
    if (!isArray(content))
      throw malformed(name, `its content is ${shapeOf(content)} and not a list of blocks`, callSite);
    const texts = content.flatMap((block) => (typeof block?.text === "string" ? [block.text] : []));
    if (isError) {
      throw toolError(texts.join("\n") || `${name} failed`, callSite, { code: "execution_failed", result });
    }
    if (texts.length !== 1 || content.length !== 1) return content;
    const [one = ""] = texts;
    if (!/^\s*[[{"\d\-tfn]/.test(one)) return one;
    try {
      return withIntegers.has(result) ? parseExact(one) : parse(one);
    } catch {
      return one;
    }
  }

  return { received, valueIn, toolError };
}
