// A row for something that must not happen at all.
import { row } from "../gateway/row.mjs";

export function count(what, value, note = "") {
  return row(what, value, { limit: 0, digits: 0, note });
}
