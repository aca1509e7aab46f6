/**
 * The content of a form, which may be invalid while somebody types. Numbers and the content of JSON fields
 * are kept as text, so that no digit is lost. undefined: the value is missing.
 */
import { kindOf, membersOf, rootSpan, type Span } from "../json/json-text.ts";

export type Draft =
  | undefined
  | null
  | boolean
  | string
  | NumberText
  | JsonText
  | readonly Draft[]
  | ReadonlyMap<string, Draft>;

export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get valid(): boolean {
    return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(this.text);
  }
}

export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get valid(): boolean {
    return rootSpan(this.text) !== undefined;
  }
}

/** Returns undefined if the text is not JSON. */
export function readDraft(text: string): Draft | undefined {
  const root = rootSpan(text);
  return root && partOf(text, root, 0);
}

export function draftOf(value: unknown): Draft {
  return value === undefined ? undefined : readDraft(JSON.stringify(value));
}

const MAX_DEPTH = 100;

function partOf(text: string, span: Span, depth: number): Draft {
  const json = text.slice(span.start, span.end);
  const kind = kindOf(text, span);
  switch (kind) {
    case "number":
      return new NumberText(json);
    case "string":
      return JSON.parse(json) as string;
    case "word":
      return json === "null" ? null : json === "true";
    case "array":
    case "object": {
      if (depth > MAX_DEPTH) return new JsonText(json);
      const members = [...membersOf(text, span)].map(
        (member) => [String(member.key), partOf(text, member, depth + 1)] as const,
      );
      return kind === "array" ? members.map(([, part]) => part) : new Map(members);
    }
  }
}

/**
 * Returns the draft as JSON. Invalid input becomes a JSON string, so that it is not lost. Returns undefined
 * for a missing value.
 */
export function writeDraft(draft: Draft): string | undefined {
  if (draft === undefined) return undefined;
  if (draft instanceof NumberText) return draft.valid ? draft.text : JSON.stringify(draft.text);
  if (draft instanceof JsonText) {
    if (draft.text.trim() === "") return undefined;
    return draft.valid ? draft.text.trim() : JSON.stringify(draft.text);
  }
  if (isList(draft)) return `[${draft.map((item) => writeDraft(item) ?? "null").join(",")}]`;
  if (draft instanceof Map) {
    const members = [...(draft as ReadonlyMap<string, Draft>)].flatMap(([name, value]) => {
      const json = writeDraft(value);
      return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
    });
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(draft);
}

export function isList(draft: Draft): draft is readonly Draft[] {
  return Array.isArray(draft);
}

export function isMap(draft: Draft): draft is ReadonlyMap<string, Draft> {
  return draft instanceof Map;
}

/** Returns a copy with one member set, in its old position if it existed; undefined removes the member. */
export function withMember(draft: Draft, name: string, value: Draft): ReadonlyMap<string, Draft> {
  const next = new Map(isMap(draft) ? draft : []);
  if (value === undefined) next.delete(name);
  else next.set(name, value);
  return next;
}

export function withItem(draft: Draft, at: number, value: Draft): readonly Draft[] {
  const items = isList(draft) ? [...draft] : [];
  items[at] = value;
  return Array.from(items, (item) => item);
}
