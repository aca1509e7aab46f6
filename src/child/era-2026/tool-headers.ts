/** Reads from a page of `tools/list` which parameters must be repeated in headers, and leaves out tools whose declaration is invalid. */
import { asRaw, fromRaw, type Raw } from "../../kernel/raw.ts";
import { type ParamHeader, paramHeaders } from "../../rpc/era-2026/param-headers.ts";
import { elements, member, withMember } from "../../rpc/slice.ts";
import type { RequestHeaders } from "./request-headers.ts";

/** `first`: this is the first page, so the headers of earlier lists are forgotten. */
export function rememberToolHeaders(
  result: Raw,
  headers: RequestHeaders,
  first: boolean,
  report: (problem: string) => void,
): Raw {
  if (first) headers.forget();
  if (!result.includes("x-mcp-header")) return result;
  const tools = member(result, "tools");
  const all = tools ? elements(tools) : [];
  const kept = all.filter((tool) => {
    const found = paramHeaders(tool);
    const name = String(nameOf(tool));
    if ("problem" in found) report(`its tool ${name} is skipped: ${found.problem}`);
    else if (found.length > 0) headers.remember(name, found as readonly ParamHeader[]);
    return !("problem" in found);
  });
  return kept.length === all.length ? result : withMember(result, "tools", list(kept));
}

function nameOf(tool: Raw): unknown {
  const name = member(tool, "name");
  return name && fromRaw(name);
}

function list(tools: readonly Raw[]): Raw {
  return asRaw(Buffer.from(`[${tools.map(String).join(",")}]`));
}
