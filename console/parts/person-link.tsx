/** The name of somebody, with a link to the account for those who may see it. */
import { hrefOf } from "../address.ts";
import type { Approval } from "../api/types.ts";
import { ForeignText } from "../components/foreign-text.tsx";
import { may } from "../session.ts";

type Person = Pick<Approval["principal"], "kind" | "id" | "name">;

export function PersonLink({ of: { kind, id, name } }: { readonly of: Person }) {
  const shown = <ForeignText text={name} />;
  return kind === "account" && may("people") ? <a href={hrefOf({ page: "people", id })}>{shown}</a> : shown;
}
