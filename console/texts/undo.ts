/** Texts of taking a change back. */
export const undoTexts = {
  undone: "Undone.",
  newer: "Other changes were made since. Roll back in the history, where you see all of them.",
} as const;
