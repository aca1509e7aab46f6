/** Messages to webhooks, and the interface through which the admin API shows and tries them. */
import { COUNT, DATE, named, object, type Static, TEXT } from "../kernel/json-schema.ts";
import { NOTIFY_EVENTS } from "./schemas.ts";

export const DELIVERY = named(
  "WebhookDelivery",
  object(
    {
      webhook: { ...TEXT, description: "its name" },
      event: { enum: NOTIFY_EVENTS },
      text: TEXT,
      at: DATE,
      state: { enum: ["waiting", "sent", "failed"] },
      attempts: COUNT,
    },
    { reason: { ...TEXT, description: "why the last attempt failed" }, nextAt: DATE },
  ),
);
export type Delivery = Static<typeof DELIVERY>;

export const TRIED_WEBHOOK = object(
  { sent: { type: "boolean" } },
  { reason: { ...TEXT, description: "why it was not sent" } },
);

export interface NotifyControl {
  /** The last messages, newest first. */
  deliveries(): Promise<readonly Delivery[]>;
  /** Sends a test message once. Undefined if there is no such webhook. */
  try(name: string): Promise<Static<typeof TRIED_WEBHOOK> | undefined>;
}
