/** Routes that say who may use an endpoint, and which endpoints somebody may use. */
import { object, TEXT, UUID } from "../../kernel/json-schema.ts";
import { pageOf } from "../page.ts";
import { USER } from "../people-schemas.ts";
import { LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { refusalOf } from "./endpoint-use.ts";
import { objectAt } from "./objects.ts";
import type { AdminParts } from "./parts.ts";
import { accountAt } from "./users.ts";

const PERSON = object({ uuid: UUID, email: TEXT, role: USER.properties.role });
const USABLE = object({ uuid: UUID, name: TEXT });

export function whoMayRoutes(parts: AdminParts) {
  const { access, control } = parts;
  return [
    route({
      method: "GET",
      path: "/endpoints/:uuid/people",
      summary: "List the people who may use the endpoint. Keys without an owner have only their own limits",
      tag: "endpoints",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(PERSON),
      handle({ params, query }) {
        const endpoint = objectAt(parts, "endpoint", params.uuid);
        const people = [...access.accounts.all]
          .filter((account) => !account.disabled && refusalOf(endpoint, { account }) === undefined)
          .map(({ uuid, email, role }) => ({ uuid, email, role }));
        const keyOf = ({ email, uuid }: (typeof people)[number]) => `${email} ${uuid}`;
        return { body: pageOf(people, query, { keyOf, textOf: ({ email }) => email }) };
      },
    }),
    route({
      method: "GET",
      path: "/users/:uuid/endpoints",
      summary: "List the endpoints that the person may use",
      tag: "users",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(USABLE),
      handle(request) {
        const account = accountAt(parts, request);
        const usable = [...control.compiled.endpoints.values()]
          .filter(({ object: endpoint }) => refusalOf(endpoint, { account }) === undefined)
          .map(({ object: { uuid, name } }) => ({ uuid, name }));
        const nameOf = ({ name }: (typeof usable)[number]) => name;
        return { body: pageOf(usable, request.query, { keyOf: nameOf, textOf: nameOf }) };
      },
    }),
  ];
}
