/** Why a call waits, as a link to the rules that say so: of its endpoint, a namespace, or the gateway. */
import { hrefOf } from "../../address.ts";
import type { Approval } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";

export function RuleLink({ approval: { endpoint, reason } }: { readonly approval: Approval }) {
  const params = may("objects.read") ? {} : undefined;
  const endpoints = useList("/endpoints", params, CONFIG).value.value;
  const namespaces = useList("/namespaces", params, CONFIG).value.value ?? [];
  const at = endpoints?.find(({ uuid }) => uuid === endpoint.uuid);
  if (!at) return <ForeignText text={reason} />;
  const inNamespace = namespaces.find((one) => at.namespaces.includes(one.uuid) && approves(one));
  const pipeline = { tab: "pipeline" };
  const href = approves(at)
    ? hrefOf({ page: "endpoints", id: at.uuid, query: pipeline })
    : inNamespace
      ? hrefOf({ page: "namespaces", id: inNamespace.uuid, query: pipeline })
      : hrefOf({ page: "settings" });
  return (
    <a href={href}>
      <ForeignText text={reason} />
    </a>
  );
}

function approves({ middleware }: { readonly middleware: readonly unknown[] }): boolean {
  return JSON.stringify(middleware).includes('"effect":"approve"');
}
