/** Texts of the pipeline editor. */

export const pipelineTexts = {
  text: "Every call and list passes these layers, from top to bottom.",
  none: "No layers.",
  add: "Add layer …",
  options: "Options",
  save: "Save",
  guarded: "Only administrators can change this layer.",
  open: "Edit",
  close: "Close",
  own: "custom",
  layer: (at: number, use: string) => `Layer ${at}: ${use}`,
} as const;
