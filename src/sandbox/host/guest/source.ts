/** The text that is evaluated in a fresh engine before any code of a stranger: a function of the bridge that gives the controls. */
import { guest } from "./guest.ts";
import { logs } from "./logs.ts";
import { values } from "./values.ts";
import { web } from "./web.ts";

/** `own`: the engine has URL and its like itself. */
export function guestSource(own = false): string {
  const pure = own ? "{}" : `(${web.toString()})(bridge, values)`;
  const around = `{ console: (${logs.toString()})(bridge, values), ...${pure} }`;
  return `(function (bridge) { "use strict"; const values = (${values.toString()})(); return (${guest.toString()})(bridge, values, ${around}); })`;
}
