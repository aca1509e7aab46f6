/** Texts of the undo button. */
export const undoTexts = {
  undone: "Undone.",
} as const;
