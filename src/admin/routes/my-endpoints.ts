/** Route that lists the endpoints that the caller may use. */
import type { StoredObject } from "../../gateway/objects.ts";
import { pageOf } from "../page.ts";
import { LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { refusalOf } from "./endpoint-use.ts";
import type { AdminParts } from "./parts.ts";

type EndpointObject = StoredObject<"endpoint">;

export function myEndpointRoutes({ control, inspector }: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/me/endpoints",
      summary: "List the endpoints you may use, with their addresses",
      tag: "me",
      action: "endpoints.use",
      query: LIST_QUERY,
      answer: listOf(ref("MyEndpoint")),
      handle({ account, query }) {
        const all = [...control.compiled.endpoints.values()].map(({ object }) => object);
        const usable = account ? all.filter((object) => refusalOf(object, { account }) === undefined) : [];
        const page = pageOf(usable, query, { keyOf: ({ uuid }) => uuid, textOf: ({ name }) => name });
        return { body: { ...page, items: page.items.map((object) => shown(object, inspector.url)) } };
      },
    },
  ];
}

function shown({ uuid, name, spec }: EndpointObject, url: string): object {
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
