/** Kinds of requests that reach a server. */

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
