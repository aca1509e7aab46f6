/** Route that lists the endpoints that the caller may use. */

import type { StoredObject } from "../../gateway/objects.ts";
import { pageOf } from "../page.ts";
import { MY_ENDPOINT } from "../people-schemas.ts";
import { LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { refusalOf } from "./endpoint-use.ts";
import type { AdminParts } from "./parts.ts";

export function myEndpointRoutes({ control, inspector }: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/me/endpoints",
      summary: "List the endpoints you may use, with their addresses",
      tag: "me",
      action: "endpoints.use",
      query: LIST_QUERY,
      answer: listOf(MY_ENDPOINT),
      handle({ account, query }) {
        const all = [...control.compiled.endpoints.values()].map(({ object }) => object);
        const usable = account ? all.filter((object) => refusalOf(object, { account }) === undefined) : [];
        const page = pageOf(usable, query, { keyOf: ({ uuid }) => uuid, textOf: ({ name }) => name });
        return { body: { ...page, items: page.items.map((object) => shown(object, inspector.url)) } };
      },
    }),
  ];
}

function shown({ uuid, name, spec }: StoredObject<"endpoint">, url: string) {
  const { description, surface, access, openapi } = spec;
  return {
    uuid,
    name,
    description,
    surface,
    openapi,
    url: `${url}/metamcp/${name}/mcp`,
    access: { keys: access.keys, oauth: access.oauth },
  };
}
