/** Texts of the pipeline editor. */

export const pipelineTexts = {
  text: "Layers act in this order, the outermost first, on every call and list that comes this way.",
  none: "No layer stands here.",
  add: "Add layer …",
  options: "Options",
  noOptions: "It has no options.",
  save: "Save pipeline",
  guarded: "Only administrators change this layer.",
  open: "Edit",
  close: "Fold",
  own: "one's own",
  layer: (at: number, use: string) => `Layer ${at}: ${use}`,
} as const;
