/** Texts of outcomes of calls, changes and logins. */
export const outcomeTexts = {
  words: { ok: "ok", error: "failed", refused: "refused" },
  by: (layer: string) => `by ${layer}`,
} as const;
