/** The HTTP headers of the stateless era, which repeat parts of a request for proxies that route by them. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { toHeader } from "../../rpc/era-2026/header-value.ts";
import { ERA_2026_VERSION, NAMED_BY } from "../../rpc/era-2026/names.ts";
import { type ParamHeader, valueAt } from "../../rpc/era-2026/param-headers.ts";
import type { Message } from "../../rpc/message.ts";
import { isString, members } from "../../rpc/slice.ts";

export class RequestHeaders {
  /** By tool: the parameters that are repeated in headers. */
  readonly #params = new Map<string, readonly ParamHeader[]>();

  remember(tool: string, params: readonly ParamHeader[]): void {
    this.#params.set(tool, params);
  }

  forget(): void {
    this.#params.clear();
  }

  of(message: Message): Record<string, string> {
    const headers: Record<string, string> = { "mcp-protocol-version": ERA_2026_VERSION };
    if (message.kind !== "request") return headers;
    const { method, params } = message;
    headers["mcp-method"] = method;
    const key = NAMED_BY.get(method);
    const [raw, args] = key && params ? members(params, [key, "arguments"]) : [];
    if (!raw || !isString(raw)) return headers;
    const name = fromRaw(raw) as string;
    headers["mcp-name"] = toHeader(name);
    const repeated = method === "tools/call" ? this.#params.get(name) : undefined;
    if (repeated && args) this.#addParams(repeated, args, headers);
    return headers;
  }

  #addParams(repeated: readonly ParamHeader[], args: Raw, headers: Record<string, string>): void {
    for (const { header, path } of repeated) {
      const value = valueAt(args, path);
      if (value !== undefined) headers[header] = toHeader(value);
    }
  }
}
