/** A log that masks the secrets of the server that a line names. */
import type { Log, LogFields, LogLevel } from "./log.ts";
import type { Mask } from "./secret.ts";

/** `maskOf` gets the field `server` of a line and returns undefined if there is nothing to mask. */
export function maskedLog(log: Log, maskOf: (server: unknown) => Mask | undefined): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      const mask = maskOf(fields?.["server"]);
      if (mask) log[level](mask(message), fields && maskedFields(fields, mask));
      else log[level](message, fields);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function maskedFields(fields: LogFields, mask: Mask): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === "server") return [name, value];
      if (value instanceof Error) return [name, mask(value.message)];
      return [name, typeof value === "string" ? mask(value) : value];
    }),
  );
}
