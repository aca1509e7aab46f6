/** Routes to search for servers, and to decide about servers that models requested. */

import { OFFERS, PROVISION_REQUEST, SOURCES } from "../../gateway/provisioning-control.ts";
import { object, TEXT } from "../../kernel/json-schema.ts";
import { actorOf } from "../../kernel/principal.ts";
import { pageOf } from "../page.ts";
import { LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

const APPROVE = object(
  {},
  {
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
);

const REFUSE = object({}, { reason: { type: "string", maxLength: 1_000 } });

export function provisionRoutes({ provisioning }: AdminParts) {
  return [
    route({
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
      answer: OFFERS,
      async handle({ query: { q = "", from } }) {
        return { body: await provisioning.search({ query: q, from }) };
      },
    }),
    route({
      method: "GET",
      path: "/provision-requests",
      summary: "List the servers that models asked for",
      tag: "provision-requests",
      action: "provision",
      query: { ...LIST_QUERY, state: { type: "string", description: "pending, approved or refused" } },
      answer: listOf(PROVISION_REQUEST),
      async handle({ query }) {
        const { state } = query;
        const all = (await provisioning.requests()).filter(
          (one) => state === undefined || one.state === state,
        );
        const textOf = (one: (typeof all)[number]): string => [one.name, one.id, one.intent].join("\n");
        return { body: pageOf(all, query, { keyOf: ({ uuid }) => uuid, textOf }) };
      },
    }),
    route({
      method: "POST",
      path: "/provision-requests/:uuid/approve",
      summary: "Add the requested server to the endpoint of the request",
      tag: "provision-requests",
      action: "provision",
      body: APPROVE,
      answer: PROVISION_REQUEST,
      async handle({ params, body, principal, signal }) {
        const approval = { ...body, by: actorOf(principal), signal };
        return { body: await provisioning.approve(params.uuid, approval) };
      },
    }),
    route({
      method: "POST",
      path: "/provision-requests/:uuid/refuse",
      summary: "Refuse a requested server",
      tag: "provision-requests",
      action: "provision",
      body: REFUSE,
      answer: PROVISION_REQUEST,
      async handle({ params, body, principal }) {
        return { body: await provisioning.refuse(params.uuid, { ...body, by: actorOf(principal) }) };
      },
    }),
  ];
}
