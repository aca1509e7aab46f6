/** JSON for people: indented if parsing loses nothing, else exactly as received. */
import { fromRaw, type Raw } from "../kernel/raw.ts";

export function exactJson(written: Raw): string {
  const value = fromRaw(written);
  return JSON.stringify(value) === written.toString()
    ? JSON.stringify(value, undefined, 2)
    : written.toString();
}
