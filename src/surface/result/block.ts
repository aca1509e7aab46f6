/**
 * Checks content blocks of children. A malformed block would make the whole result unreadable for a strict
 * client.
 */
import type { Raw } from "../../kernel/raw.ts";
import { isObject, isString, member, members, textAt } from "../../rpc/slice.ts";

/** A block of an unknown type only needs a type. */
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
      return isResource(member(block, "resource"));
    default:
      return true;
  }
}

function isResource(resource: Raw | undefined): boolean {
  if (!resource || !isObject(resource) || !hasTexts(resource, ["uri"])) return false;
  return hasTexts(resource, ["text"]) || hasTexts(resource, ["blob"]);
}

function hasTexts(object: Raw, keys: readonly string[]): boolean {
  return members(object, keys).every((value) => value !== undefined && isString(value));
}
