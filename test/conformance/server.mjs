/**
 * The server that the conformance suite runs against, directly and through MetaMCP. Usage: server.mjs [--http
 * PORT] [--era legacy|2026|both]
 */
import { parseArgs } from "node:util";
import { serveHttp } from "./fixture/http.mjs";
import { serveStdio } from "./fixture/stdio.mjs";

const { values } = parseArgs({
  options: { http: { type: "string" }, era: { type: "string", default: "both" } },
});
if (values.http === undefined) serveStdio(values.era);
else serveHttp(Number(values.http), values.era);
