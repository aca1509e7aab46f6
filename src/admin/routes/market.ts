/** Routes to search for servers, and to decide about servers that models requested. */
import { actorOf } from "../authenticate.ts";
import { SOURCES } from "../market-schemas.ts";
import { pageOf } from "../page.ts";
import { LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

const TEXT = { type: "string" } as const;

const APPROVE = {
  type: "object",
  properties: {
    namespace: {
      type: "string",
      minLength: 1,
      description: "a uuid or a name; default: the endpoint's first namespace",
    },
    values: {
      type: "object",
      additionalProperties: TEXT,
      description: "values of the variables it needs, by name",
    },
  },
  additionalProperties: false,
} as const;

const REFUSE = {
  type: "object",
  properties: { reason: { type: "string", maxLength: 1_000 } },
  additionalProperties: false,
} as const;

export function marketRoutes({ provisioning }: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/registry",
      summary: "Search the registry and the gallery for servers, best first",
      tag: "registry",
      action: "provision",
      query: {
        q: {
          type: "string",
          description: "the task, or the name of a server; default: the whole gallery",
        },
        from: { enum: SOURCES, description: "only this source" },
      },
      answer: ref("Offers"),
      async handle({ query }) {
        const from = SOURCES.find((source) => source === query.get("from"));
        return { body: await provisioning.search({ query: query.get("q") ?? "", from }) };
      },
    },
    {
      method: "GET",
      path: "/provision-requests",
      summary: "List the servers that models asked for",
      tag: "provision-requests",
      action: "provision",
      query: { ...LIST_QUERY, state: { type: "string", description: "pending, approved or refused" } },
      answer: listOf(ref("ProvisionRequest")),
      async handle({ query }) {
        const state = query.get("state");
        const all = (await provisioning.requests()).filter((one) => state === null || one.state === state);
        const textOf = (one: (typeof all)[number]): string => [one.name, one.id, one.intent].join("\n");
        return { body: pageOf(all, query, { keyOf: ({ uuid }) => uuid, textOf }) };
      },
    },
    {
      method: "POST",
      path: "/provision-requests/:uuid/approve",
      summary: "Add the requested server to the endpoint of the request",
      tag: "provision-requests",
      action: "provision",
      body: APPROVE,
      answer: ref("ProvisionRequest"),
      async handle({ params, body, principal, signal }) {
        const given = await checkedBody<{ namespace?: string; values?: Record<string, string> }>(
          APPROVE,
          body ?? {},
        );
        const approval = { ...given, by: actorOf(principal), signal };
        return { body: await provisioning.approve(params["uuid"] ?? "", approval) };
      },
    },
    {
      method: "POST",
      path: "/provision-requests/:uuid/refuse",
      summary: "Refuse a requested server",
      tag: "provision-requests",
      action: "provision",
      body: REFUSE,
      answer: ref("ProvisionRequest"),
      async handle({ params, body, principal }) {
        const given = await checkedBody<{ reason?: string }>(REFUSE, body ?? {});
        return {
          body: await provisioning.refuse(params["uuid"] ?? "", { ...given, by: actorOf(principal) }),
        };
      },
    },
  ];
}
