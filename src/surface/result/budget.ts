/**
 * Shortens results over the budget: stores the whole and returns a preview with a link. For smaller results
 * only the length is checked.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, members } from "../../rpc/slice.ts";
import { mediaIn } from "./media.ts";
import { previewOf } from "./preview.ts";
import { sketchOf } from "./sketch.ts";
import type { ResultStore } from "./store.ts";
import { partsOf, type ResultParts } from "./value.ts";

export const DEFAULT_BUDGET = 100 * 1024;
/** Largest preview and link together, as JSON. Leaves room for what a session may add, up to 4,096 bytes. */
export const PREVIEW_BYTES = 3_900;
const LONGEST_META = 400;
const MAX_BLOCKS = 5;
/** Share of the text in the preview; the rest is for the structured content. */
const TEXT_SHARE = 0.6;

export interface Budget {
  readonly store: ResultStore;
  readonly caller: string;
  /** The principal, whose share of the store counts. */
  readonly owner: string;
  /** The tool that returned the result. */
  readonly source: string;
  /** The largest result that is returned whole, in bytes: `maxResultBytes`. */
  readonly most: number;
  /** Returns the tool call that reads a stored result on this surface; undefined if there is no such tool. */
  readonly readCommand: ((uri: string) => string) | undefined;
  /** The name of the tool that runs code; undefined if there is none. */
  readonly code: string | undefined;
}

type ShownParts = Pick<ResultParts, "value" | "blocks">;

export interface Shortened {
  /** The URI of the stored result; undefined if it was too large to store. */
  readonly uri: string | undefined;
  /** Returns JSON of at most this many bytes. */
  readonly preview: (room: number) => Raw;
  /** Says that the result is shortened and how to read the rest. */
  readonly note: string;
  /**
   * Content blocks: a link to the stored result if there is one, and images and audio within their budget.
   */
  readonly blocks: readonly Raw[];
  /** The size of the images and audio, which do not count for the size of a preview. */
  readonly mediaBytes: number;
}

function readHint(uri: string, readCommand: Budget["readCommand"], code: Budget["code"]): string {
  // Code uses the same tool to read, so there is no hint for it either.
  if (!readCommand) return "The link has the whole result.";
  const inCode = code ? ` Or use the whole result in ${code} without showing it: await read("${uri}").` : "";
  return `Read on with ${readCommand(uri)}: each page names the next; find, from and lines select lines.${inCode}`;
}

/**
 * `parts` are the parts of the result, if they are known already; `room` is the space for images and audio.
 */
export function shorten(
  result: Raw,
  { store, caller, owner, source, most, readCommand, code }: Budget,
  parts: ShownParts = partsOf(result),
  room?: number,
): Shortened {
  const media = mediaIn(parts.blocks, most, room);
  const sketch = sketchOf(parts.value);
  const stored = store.put(caller, source, result, owner);
  const size = result.length.toLocaleString("en");
  const reading = stored
    ? readHint(stored.uri, readCommand, code)
    : "It is too large to store: make a narrower call to see more.";
  const named = blocksText(parts.blocks.filter((block) => !media.shown.includes(block)));
  const contents =
    isNothing(parts.value) && named !== ""
      ? `It contains ${named}.`
      : `Only a preview is shown.${named === "" ? "" : ` It also contains ${named}.`}`;
  return {
    uri: stored?.uri,
    preview: (room) => asRaw(Buffer.from(previewOf(sketch, (json) => Buffer.byteLength(json) <= room))),
    note: `This result has ${size} bytes; maxResultBytes is ${most.toLocaleString("en")}. ${contents} ${reading}`,
    blocks: [...(stored ? [linkTo(stored, source)] : []), ...media.shown],
    mediaBytes: media.bytes,
  };
}

function linkTo({ uri, bytes }: { uri: string; bytes: number }, source: string): Raw {
  return toRaw({
    type: "resource_link",
    uri,
    name: source.slice(0, 200),
    description: "The whole result, in pages",
    mimeType: "application/json",
    size: bytes,
  });
}

/**
 * Returns the largest answer with a preview that fits the limit. `write` may use the preview several times.
 */
export function withPreview({ preview, mediaBytes }: Shortened, write: (shown: Raw) => Raw): Raw {
  for (let room = PREVIEW_BYTES; ; room = Math.floor(room * 0.85)) {
    const answer = write(preview(room));
    if (answer.length - mediaBytes <= PREVIEW_BYTES || room < 100) return answer;
  }
}

/** The note and the preview as one text. A result without text has no preview. */
export function notedPreview({ note }: Shortened, shown: Raw): string {
  return isNothing(shown) ? note : `${note}\n${previewText(shown)}`;
}

/** Whether the result has neither text nor structured content. */
function isNothing(value: Raw): boolean {
  return value.toString("latin1", 0, 5) === "null";
}

/** A preview as text. A string is not quoted. */
function previewText(shown: Raw): string {
  return shown[0] === 0x22 ? (JSON.parse(shown.toString()) as string) : shown.toString();
}

/** Shortens a child's result and keeps the form of a tool result. */
export function shortResult(result: Raw, budget: Budget): Raw {
  const short = shorten(result, budget);
  const [structured, isError, meta] = members(result, ["structuredContent", "isError", "_meta"]);
  const write = (text: string, preview: Raw | undefined): Raw =>
    joinObject([
      ["content", joinArray([toRaw({ type: "text", text }), ...short.blocks])],
      ["structuredContent", preview],
      ["isError", isError],
      ["_meta", meta && meta.length <= LONGEST_META ? meta : undefined],
    ]);
  const keepsStructure = structured?.[0] === 0x7b;
  const frame = write(`${short.note}\n`, keepsStructure ? toRaw({}) : undefined).length;
  const room = PREVIEW_BYTES - (frame - short.mediaBytes);
  const share = keepsStructure ? Math.floor(room * TEXT_SHARE) : room;
  const text = notedPreview(short, previewWithin(short, share));
  return write(text, keepsStructure ? objectWithin(short, room - share) : undefined);
}

/** A preview whose text fits into JSON, where quotes are escaped. */
function previewWithin({ preview }: Shortened, room: number): Raw {
  for (let most = room; ; most = Math.floor(most * 0.85)) {
    const shown = preview(most);
    if (Buffer.byteLength(JSON.stringify(previewText(shown))) - 2 <= room || most < 100) return shown;
  }
}

/** Structured content must stay an object. */
function objectWithin({ preview }: Shortened, room: number): Raw {
  const json = preview(room);
  return json[0] === 0x7b ? json : joinObject([["…", json]]);
}

function blocksText(blocks: readonly Raw[]): string {
  const named = blocks.slice(0, MAX_BLOCKS).map((block) => {
    const [type, mimeType] = members(block, ["type", "mimeType"]).map((raw) =>
      raw?.[0] === 0x22 ? (JSON.parse(raw.toString()) as string) : "",
    );
    return `${[type, mimeType].filter(Boolean).join(" ").slice(0, 60)} (${block.length.toLocaleString("en")} bytes)`;
  });
  const rest = blocks.length - named.length;
  return `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
