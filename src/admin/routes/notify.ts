/**
 * Routes for webhooks: their last messages, and a test message. The settings have the webhooks themselves.
 */
import { DELIVERY, TRIED_WEBHOOK } from "../../gateway/notify-control.ts";
import { list, object } from "../../kernel/json-schema.ts";
import { Problem } from "../problem.ts";
import { route } from "../route.ts";
import type { AdminParts } from "./parts.ts";

export function notifyRoutes({ notices }: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/notify",
      summary: "List the last messages to webhooks, newest first, with the reason if one was not sent",
      tag: "settings",
      action: "settings",
      answer: object({ items: list(DELIVERY) }),
      handle: async () => ({ body: { items: await notices.deliveries() } }),
    }),
    route({
      method: "POST",
      path: "/notify/:name/try",
      summary: "Send a test message to a webhook of the settings, once",
      tag: "settings",
      action: "settings",
      answer: TRIED_WEBHOOK,
      async handle({ params, recordChanges }) {
        const tried = await notices.try(params.name);
        if (!tried) throw new Problem(404, `there is no webhook "${params.name.slice(0, 64)}"`);
        recordChanges([{ action: "try", object: { kind: "webhook", name: params.name } }]);
        return { body: tried };
      },
    }),
  ];
}
