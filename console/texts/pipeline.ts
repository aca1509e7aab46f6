/** Texts of the pipeline editor. */
import { plural } from "../format.ts";

export const pipelineTexts = {
  text: "Every call and list passes these layers, from top to bottom.",
  none: "No layers.",
  add: "Add layer …",
  save: "Save",
  guarded: "Only administrators can change this layer.",
  open: "Edit",
  close: "Done",
  layer: (at: number, use: string) => `Layer ${at}: ${use}`,
  summaries: {
    rate: (requests: string, per: string, by: string) =>
      `${requests} calls per ${per}${by ? ` and ${by}` : ""}`,
    concurrency: (max: string, queue: string | undefined, by: string) =>
      `${max} calls at once${by ? ` per ${by}` : ""}${queue ? `, ${queue} wait` : ""}`,
    only: (globs: string) => `only ${globs}`,
    without: (globs: string) => `without ${globs}`,
    readOnly: "only read-only tools",
    notDestructive: "no destructive tools",
    labels: (names: string) => `only servers labelled ${names}`,
    policy: (rules: number) => plural(rules, "rule"),
    redact: (blocks: boolean, what: string) => `${blocks ? "blocks" : "masks"} ${what || "secrets"}`,
    cache: (tools: string, time: string) => `keeps answers of ${tools || "read-only tools"} for ${time}`,
    timeout: (time: string) => `at most ${time}`,
    audit: (what: string) => `records ${what} of arguments`,
  },
} as const;
