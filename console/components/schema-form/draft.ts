/**
 * What stands in a form, while it may still be wrong. Numbers are kept as they were typed or came, so that no digit is lost; so
 * is the text of fields for JSON. undefined: left out.
 */
import { kindOf, membersOf, type Span, wholeOf } from "../json/json-text.ts";

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
    return wholeOf(this.text) !== undefined;
  }
}

/** undefined where the text is not JSON. */
export function readDraft(text: string): Draft | undefined {
  const whole = wholeOf(text);
  return whole && partOf(text, whole, 0);
}

export function draftOf(value: unknown): Draft {
  return value === undefined ? undefined : readDraft(JSON.stringify(value));
}

const DEEPEST = 100;

function partOf(text: string, span: Span, depth: number): Draft {
  const written = text.slice(span.start, span.end);
  const kind = kindOf(text, span);
  switch (kind) {
    case "number":
      return new NumberText(written);
    case "string":
      return JSON.parse(written) as string;
    case "word":
      return written === "null" ? null : written === "true";
    case "array":
    case "object": {
      if (depth > DEEPEST) return new JsonText(written);
      const members = [...membersOf(text, span)].map(
        (member) => [String(member.key), partOf(text, member, depth + 1)] as const,
      );
      return kind === "array" ? members.map(([, part]) => part) : new Map(members);
    }
  }
}

/** As JSON. What cannot be written as it should be is written as text, so that it is not lost; undefined where there is nothing. */
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
      const written = writeDraft(value);
      return written === undefined ? [] : [`${JSON.stringify(name)}:${written}`];
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

/** The same with one member set, at its old place if it had one; undefined takes it out. */
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
