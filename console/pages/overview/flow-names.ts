/** Names and links of what the picture shows. Ids are uuids, or names of what has none. */

import { hrefOf } from "../../address.ts";
import type { Usage } from "../../api/types.ts";
import { visibleText } from "../../components/visible-text.ts";
import { callsHref } from "../../parts/calls-href.ts";
import { usageTexts } from "../../texts/usage.ts";
import { type FlowColumn, type FlowNode, type FlowPath, REST } from "./flow-layout.ts";

const texts = usageTexts.flow;

/** What a node is called and filtered by: the uuid of an object, if it has one. */
type Named = { readonly uuid?: string | undefined; readonly name: string };
const NOTHING: Named = { name: "" };

export function pathsOf({ flows }: Usage): readonly FlowPath[] {
  return flows.map(({ client, endpoint, namespace, server, calls, errors, refused }) => ({
    client: client ?? "",
    endpoint: idOf(endpoint),
    namespace: idOf(namespace),
    server: idOf(server),
    calls,
    errors,
    refused,
  }));
}

export function namesIn({ flows }: Usage): ReadonlyMap<string, string> {
  const all = flows.flatMap(({ endpoint, namespace, server }) => [endpoint, namespace, server]);
  return new Map(all.flatMap((one) => (one ? [[idOf(one), one.name] as const] : [])));
}

export function labelOf({ id, column, of }: FlowNode, names: ReadonlyMap<string, string>): string {
  if (id === REST) return texts.rest(of, column);
  if (id === "") return texts.none[column];
  if (column === "server" && id === "metamcp") return texts.own;
  if (column === "server" && id === "other") return texts.unknown;
  return visibleText(names.get(id) ?? id);
}

/** The calls of a node, or of the ribbon between two. A gathered node leads to all. */
export function linkOf(nodes: readonly FlowNode[], usage: Usage, names: ReadonlyMap<string, string>): string {
  const [only] = nodes;
  const known = nodes.filter(({ id }) => id !== REST && id !== "");
  if (nodes.length === 1 && only?.column === "namespace" && known.length === 1)
    return hrefOf({ page: "namespaces", id: only.id });
  const filters = known.flatMap(({ column, id }): [FlowColumn, string][] =>
    column === "namespace" ? [] : [[column, column === "client" ? id : (names.get(id) ?? id)]],
  );
  return callsHref({ ...Object.fromEntries(filters), from: usage.from });
}

function idOf(one: Named | undefined = NOTHING): string {
  return one.uuid ?? one.name;
}
