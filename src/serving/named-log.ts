/**
 * A log in which servers have their names. The engine of a gateway knows a server by its uuid, and people do
 * not.
 */
import type { Log, LogFields, LogLevel } from "../kernel/log.ts";

/** `nameOf` returns undefined for a uuid that is not a server's. */
export function namedLog(log: Log, nameOf: (uuid: string) => string | undefined): Log {
  const write =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      const uuid = fields?.["server"];
      const name = typeof uuid === "string" ? nameOf(uuid) : undefined;
      if (name === undefined) log[level](message, fields);
      else log[level](message.replaceAll(String(uuid), name), { ...fields, server: name, uuid });
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
