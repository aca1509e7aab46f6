/** How something ended. */
export const outcomeTexts = {
  words: { ok: "ok", error: "failed", refused: "refused" },
  by: (layer: string) => `by ${layer}`,
} as const;
