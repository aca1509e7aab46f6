/** What of a server differs from what was approved: as the admin API shows it, and lets people choose. */
import {
  INSTRUCTIONS,
  PINNED_KINDS,
  type PinnedKind,
  type ToolChange,
  whatHappened,
} from "../../catalog/pins/change.ts";
import { SIGNED_KINDS } from "../../catalog/pins/sign-book.ts";
import { SEVERITIES, SIGN_KINDS } from "../../catalog/signs/sign.ts";
import { COUNT, named, object, TEXT } from "../../kernel/json-schema.ts";

export const SIGN = named(
  "Sign",
  object({
    sign: { enum: SIGN_KINDS },
    severity: {
      enum: SEVERITIES,
      description: "hard ones block, or warn in every list; soft ones are shown",
    },
    path: { ...TEXT, description: "where the text is in the definition" },
    start: { ...COUNT, description: "where the place begins in the text, in UTF-16 units" },
    end: COUNT,
    excerpt: { ...TEXT, description: "the place with what is around it; unusual characters are escaped" },
  }),
);

export const SIGNED_KIND = { enum: SIGNED_KINDS } as const;
export const CHANGE_OF = { enum: PINNED_KINDS, description: "what it is" } as const;

interface Names {
  readonly tools?: readonly string[];
  readonly prompts?: readonly string[];
  readonly instructions?: boolean;
  /** What needs no approval. */
  readonly signs?: readonly unknown[];
}

/** A test for the changes that are named; for all if nothing is named. */
export function chosenBy({ tools, prompts, instructions, signs }: Names): (change: ToolChange) => boolean {
  if (!tools && !prompts && !instructions) return () => !signs;
  const names: Readonly<Record<PinnedKind, ReadonlySet<string>>> = {
    tools: new Set(tools),
    prompts: new Set(prompts),
    instructions: new Set(instructions ? [INSTRUCTIONS] : []),
  };
  return ({ of, tool }) => names[of].has(tool);
}

/** Why a tool is blocked until an administrator approves it. */
export function awaitedBecause(change: ToolChange): string {
  const { kind, parts } = change;
  if (kind === "new") return "it is new and awaits approval";
  if (kind === "suspect") return `it ${whatHappened(change)} and awaits approval`;
  if (kind === "changed") return `it changed since it was approved (${parts.join(", ")}) and awaits approval`;
  return "it awaits approval: the record of approved tools cannot be read";
}
