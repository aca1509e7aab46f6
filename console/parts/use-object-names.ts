/** Names of objects and people by uuid, as far as the person may read them, and values with names in them. */
import { CONFIG, useList } from "../live/resource.ts";
import { may } from "../session.ts";

type Names = ReadonlyMap<string, string>;

export function useObjectNames(): Names {
  const reads = may("objects.read") ? {} : undefined;
  const objects = [
    useList("/mcp-servers", reads, CONFIG),
    useList("/namespaces", reads, CONFIG),
    useList("/endpoints", reads, CONFIG),
  ].flatMap(({ value }): readonly { uuid: string; name: string }[] => value.value ?? []);
  const people = useList("/users", may("people") ? {} : undefined, CONFIG).value.value ?? [];
  return new Map([
    ...objects.map(({ uuid, name }) => [uuid, name] as const),
    ...people.map(({ uuid, email }) => [uuid, email] as const),
  ]);
}

/** The value with names in place of ids. What has been deleted keeps its id. */
export function withNames(value: unknown, names: Names): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => withNames(one, names));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, one]) => [names.get(name) ?? name, name === "uuid" ? one : withNames(one, names)]),
  );
}
