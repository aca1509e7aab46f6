/** Names of objects, as links to their pages for those who may open them. */
import { hrefOf } from "../address.ts";
import { ForeignText } from "../components/foreign-text.tsx";
import { may } from "../session.ts";

const RIGHTS = {
  endpoints: "objects.read",
  servers: "objects.read",
  keys: "keys.read",
  people: "people",
} as const;

interface ObjectLinksProps {
  readonly page: keyof typeof RIGHTS;
  readonly to: readonly { readonly uuid: string; readonly name: string }[];
}

export function ObjectLinks({ page, to }: ObjectLinksProps) {
  return (
    <span class="line">
      {to.map(({ uuid, name }) =>
        may(RIGHTS[page]) ? (
          <a key={uuid} href={hrefOf({ page, id: uuid })}>
            <ForeignText text={name} />
          </a>
        ) : (
          <ForeignText key={uuid} text={name} />
        ),
      )}
    </span>
  );
}

/** The key that a call or session used. */
export function KeyLink({
  of: { id, name },
}: {
  readonly of: { readonly id: string; readonly name?: string };
}) {
  return <ObjectLinks page="keys" to={[{ uuid: id, name: name ?? id }]} />;
}
