/** Whether a content block of a child can stand in a result of ours: one that is broken would make all of it unreadable to a strict client. */
import type { Raw } from "../../kernel/raw.ts";
import { isObject, isString, member, members, textAt } from "../../rpc/slice.ts";

/** Of a type that does not exist yet all there is to see is that it is one. */
export function isBlock(block: Raw): boolean {
  if (!isObject(block)) return false;
  const type = member(block, "type");
  if (!type || !isString(type)) return false;
  switch (textAt(type, 0)) {
    case "text":
      return hasTexts(block, ["text"]);
    case "image":
    case "audio":
      return hasTexts(block, ["data", "mimeType"]);
    case "resource_link":
      return hasTexts(block, ["uri", "name"]);
    case "resource":
      return holdsResource(member(block, "resource"));
    default:
      return true;
  }
}

function holdsResource(resource: Raw | undefined): boolean {
  if (!resource || !isObject(resource) || !hasTexts(resource, ["uri"])) return false;
  return hasTexts(resource, ["text"]) || hasTexts(resource, ["blob"]);
}

function hasTexts(object: Raw, keys: readonly string[]): boolean {
  return members(object, keys).every((value) => value !== undefined && isString(value));
}
