/** Checks that HTTP headers, which repeat parts of the body for routing, agree with the body. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { fromHeader } from "../../rpc/era-2026/header-value.ts";
import { HEADER_MISMATCH, NAMED_BY } from "../../rpc/era-2026/names.ts";
import { paramHeaders, valueAt } from "../../rpc/era-2026/param-headers.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { isString, member, members } from "../../rpc/slice.ts";

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Called before it is known whether the version is supported. */
export function checkVersionHeader(headers: Headers, version: string): void {
  const header = headers["mcp-protocol-version"];
  if (header !== version) throw mismatch("MCP-Protocol-Version", header, version);
}

export function checkRequestHeaders(headers: Headers, method: string, params: Raw): void {
  const header = headers["mcp-method"];
  if (header !== method) throw mismatch("Mcp-Method", header, method);
  const key = NAMED_BY.get(method);
  const [raw] = key ? members(params, [key]) : [];
  // A request without a name is invalid; its handler reports that.
  if (!raw || !isString(raw)) return;
  const name = fromRaw(raw) as string;
  const given = headers["mcp-name"];
  if (typeof given !== "string" || fromHeader(given) !== name) throw mismatch("Mcp-Name", given, name);
}

/** Checks the headers for parameters that the tool's schema wants repeated in headers. */
export function checkParamHeaders(headers: Headers, definition: Raw, params: Raw): void {
  const wanted = paramHeaders(definition);
  if ("problem" in wanted || wanted.length === 0) return;
  const raw = member(params, "arguments");
  for (const { header, path } of wanted) {
    const body = raw && valueAt(raw, path);
    const given = headers[header];
    const decoded = typeof given === "string" ? fromHeader(given) : undefined;
    if (given === undefined ? body !== undefined : !same(decoded, body))
      throw mismatch(header, given, body ?? "nothing there");
  }
}

/** Integers are also equal if the header writes them with a fraction of zeros. */
function same(header: string | undefined, body: string | undefined): boolean {
  if (header === undefined || body === undefined) return false;
  return (
    header === body ||
    (/^-?\d+(\.0*)?$/.test(header) && /^-?\d+$/.test(body) && Number(header) === Number(body))
  );
}

function mismatch(name: string, header: string | string[] | undefined, body: string): RpcError {
  const says =
    header === undefined ? "is missing" : `says ${JSON.stringify(header).slice(0, MAX_SHOWN)}, which differs`;
  const text = `Header mismatch: ${name} ${says}; the body says ${JSON.stringify(body).slice(0, MAX_SHOWN)}`;
  return RpcError.of(HEADER_MISMATCH, text);
}

const MAX_SHOWN = 200;
