/** Texts of outcomes of calls, changes and logins. */
export const outcomeTexts = {
  words: { ok: "ok", error: "failed", refused: "refused" },
} as const;
