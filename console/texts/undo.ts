/** Texts of the undo button. */
export const undoTexts = {
  undone: "Undone.",
  newer: "There are newer changes. Roll back on the page History, where you see all of them.",
} as const;
