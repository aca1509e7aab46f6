/**
 * The source text that a new engine evaluates before any untrusted code: a function that takes the bridge and
 * returns the controls.
 */
import { abort } from "./abort.ts";
import { guest } from "./guest.ts";
import { locale } from "./locale.ts";
import { logs } from "./logs.ts";
import { results } from "./results.ts";
import { values } from "./values.ts";
import { web } from "./web.ts";

/** `hasWebGlobals`: the engine has URL, TextEncoder and so on itself. */
export function guestSource(hasWebGlobals = false): string {
  const webGlobals = hasWebGlobals
    ? "{}"
    : `{ ...(${web.toString()})(bridge, values), ...(${abort.toString()})(), ...(${locale.toString()})() }`;
  const library = `{ console: (${logs.toString()})(bridge, values), ...${webGlobals} }`;
  return `(function (bridge) { "use strict"; const values = (${values.toString()})(); const results = (${results.toString()})(bridge, values); return (${guest.toString()})(bridge, { values, results, library: ${library} }); })`;
}
