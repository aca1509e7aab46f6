/** JSON for people: laid out where that changes nothing, else as it was written, every digit of it. */
import { fromRaw, type Raw } from "../kernel/raw.ts";

export function exact(written: Raw): string {
  const value = fromRaw(written);
  return JSON.stringify(value) === written.toString()
    ? JSON.stringify(value, undefined, 2)
    : written.toString();
}
