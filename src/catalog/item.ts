/**
 * One entry of a child's list of prompts, resources, resource templates or skills, as the child describes it.
 */
import type { ServerId } from "../kernel/call.ts";
import { asRaw, fromRaw, type Raw } from "../kernel/raw.ts";
import { isObject, member } from "../rpc/slice.ts";
import type { ListKind } from "./list-all.ts";
import { repairPrompt, repairResource } from "./repair.ts";
import { MOST_SKILLS, readSkill } from "./skill.ts";

export interface Item {
  readonly server: ServerId;
  /** The key in requests: the name of a prompt, the URI of a resource or of a skill, or the URI template. */
  readonly name: string;
  /**
   * The whole definition, byte by byte as the child sent it unless it had to be repaired. Clients get these
   * bytes.
   */
  readonly definition: Raw;
}

export type ItemKind = "prompts" | "resources" | "templates" | "skills";

/** A child's lists other than tools. Undefined: not known yet. */
export type Items = { readonly [kind in ItemKind]?: readonly Item[] | undefined };

export const ITEM_KINDS: readonly ItemKind[] = ["prompts", "resources", "templates", "skills"];

/**
 * The capability that a child with such a list declares, which also names the notification of a change.
 * Skills have no notification: their files are resources.
 */
export const CAPABILITY = {
  prompts: "prompts",
  resources: "resources",
  templates: "resources",
  skills: "resources",
} as const;

/** URIs can be long; longer ones are ignored. */
const MAX_NAME_LENGTH = 8_192;

export const ITEM_LISTS: { readonly [kind in ItemKind]: ListKind<Item> } = {
  prompts: kind("prompts/list", "prompts", "name"),
  resources: kind("resources/list", "resources", "uri"),
  templates: kind("resources/templates/list", "resourceTemplates", "uriTemplate"),
  skills: { method: "skills/list", member: "skills", key: "uri", read: readSkill, most: MOST_SKILLS },
};

function kind(method: string, member: string, key: string): ListKind<Item> {
  return { method, member, key, read: (server, written, note) => readItem(server, written, key, note) };
}

function readItem(
  server: ServerId,
  written: Raw,
  key: string,
  note: (problem: string) => void = () => {},
): Item | undefined {
  const raw = isObject(written) ? member(written, key) : undefined;
  const name = raw && fromRaw(raw);
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) return undefined;
  // Copied, because a slice would keep the whole message in memory as long as the item.
  const copy = asRaw(Buffer.from(written));
  const definition = key === "name" ? repairPrompt(copy, note) : repairResource(copy, key, note);
  return { server, name, definition };
}
