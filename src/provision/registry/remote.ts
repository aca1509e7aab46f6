/** Turns a remote of a server.json into an entry with address and headers. Does not connect. */
import type { Entry } from "../candidate.ts";
import { isHeaderName, readUrl } from "./pattern.ts";
import type { Placeholders } from "./placeholders.ts";
import type { RegistryRemote } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

/** `plain`: http is allowed, because the registry itself uses http. */
export function remoteEntry(
  { type, url, headers = [], variables = {} }: RegistryRemote,
  placeholders: Placeholders,
  plain: boolean,
): Entry {
  const address = placeholders.fill(url, { isRequired: true, variables });
  checkAddress(address, plain);
  const written = headers.map((header) => {
    if (!isHeaderName(header.name)) throw new UnsupportedEntry("the name of a header is invalid");
    return [header.name, placeholders.textOf(header, header.name)] as const;
  });
  return {
    type: type === "sse" ? "sse" : "http",
    url: address,
    ...(written.length > 0 && { headers: Object.fromEntries(written) }),
  };
}

function checkAddress(address: string, plain: boolean): void {
  // An address that the user provides completely is not checked.
  if (address.startsWith("${")) return;
  const url = readUrl(address.replaceAll(/\$\{[A-Za-z_]\w*\}/g, "x"));
  if (!url || /[{}]/.test(address.replaceAll(/\$\{\w+\}/g, "")))
    throw new UnsupportedEntry("its address is invalid");
  if (url.protocol !== "https:" && !plain) throw new UnsupportedEntry("its address is not https");
}
