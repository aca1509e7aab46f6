/** The groups of a person, with completion from those that others have. */
import { TokenField } from "../../components/token-field.tsx";
import { useList } from "../../live/resource.ts";
import { peopleTexts } from "../../texts/people.ts";

interface GroupsFieldProps {
  readonly value: readonly string[];
  readonly error: string | undefined;
  readonly onInput: (groups: readonly string[]) => void;
}

export function GroupsField(props: GroupsFieldProps) {
  const people = useList("/users", {}, { when: (event) => event.type === "admin" }).value.value ?? [];
  const known = [...new Set(people.flatMap(({ groups }) => groups))].sort();
  const { groups, groupsHint } = peopleTexts.form;
  return <TokenField {...props} label={groups} hint={groupsHint} optional suggestions={known} />;
}
