/** A remote of a server.json as an entry: an address and headers. Connects to nothing. */
import type { Entry } from "../candidate.ts";
import type { Blanks } from "./blanks.ts";
import { Misfit } from "./misfit.ts";
import { isHeaderName, readUrl } from "./pattern.ts";
import type { RegistryRemote } from "./server-json.ts";

/** `plain`: http is as good as https, because the registry itself is reached so. */
export function remoteEntry(
  { type, url, headers = [], variables = {} }: RegistryRemote,
  blanks: Blanks,
  plain: boolean,
): Entry {
  const address = blanks.fill(url, { isRequired: true, variables });
  checkAddress(address, plain);
  const written = headers.map((header) => {
    if (!isHeaderName(header.name)) throw new Misfit("the name of a header is invalid");
    return [header.name, blanks.write(header, header.name)] as const;
  });
  return {
    type: type === "sse" ? "sse" : "http",
    url: address,
    ...(written.length > 0 && { headers: Object.fromEntries(written) }),
  };
}

function checkAddress(address: string, plain: boolean): void {
  // An address that the user gives as a whole is theirs.
  if (address.startsWith("${")) return;
  const url = readUrl(address.replaceAll(/\$\{[A-Za-z_]\w*\}/g, "x"));
  if (!url || /[{}]/.test(address.replaceAll(/\$\{\w+\}/g, ""))) throw new Misfit("its address is invalid");
  if (url.protocol !== "https:" && !plain) throw new Misfit("its address is not https");
}
