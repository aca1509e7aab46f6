/** Kinds of requests that reach a server, and of notifications from it. */

/** Requests about prompts, resources and skills. They belong to no tool, and count as reading. */
const ITEM_METHODS: ReadonlySet<string> = new Set([
  "prompts/get",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "skills/get",
  "resources/directory/read",
]);

/**
 * Whether MetaMCP does not know what a request does. Rules treat it as a call of a tool with the name of the
 * method that declares nothing about itself: its tier is `write`, and its params are its arguments.
 */
export function isOtherMethod(method: string): boolean {
  return method !== "tools/call" && !ITEM_METHODS.has(method);
}

const NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/message",
  "notifications/progress",
  "notifications/cancelled",
  "notifications/elicitation/complete",
  "notifications/resources/updated",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/tasks",
  "notifications/tasks/status",
]);

/** Whether MetaMCP does not know what a notification of a server says. */
export function isOtherNotification(method: string): boolean {
  return !NOTIFICATIONS.has(method);
}
