/** Schema of globs for `server:tool`. They match the server's own name of the tool, not an override. */
export const GLOBS = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 1_000 },
  maxItems: 1_000,
  description: "globs for server:tool",
} as const;
