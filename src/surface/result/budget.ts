/** Results over the budget: kept whole for reading, and shown as a preview with a link. Below it only a length is looked at. */
import { joinArray } from "../../catalog/json-array.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, members } from "../../rpc/slice.ts";
import { previewOf } from "./preview.ts";
import { sketchOf } from "./sketch.ts";
import type { ResultStore } from "./store.ts";
import { partsOf, type ResultParts } from "./value.ts";

/** Where nothing else is configured. */
export const DEFAULT_BUDGET = 100 * 1024;
/** Preview and link together, as JSON: 4,096 bytes with what a session may add to a result. */
export const PREVIEW_BYTES = 3_900;
const LONGEST_META = 400;
const MOST_BLOCKS = 5;
/** Of the room for previews: the rest is for the structured one. */
const TEXT_SHARE = 0.6;

export interface Budget {
  readonly store: ResultStore;
  readonly caller: string;
  /** The tool whose result it is. */
  readonly source: string;
  /** How the surface reads a stored result, for clients without resources; undefined where it has no tool for it. */
  readonly how: ((uri: string) => string) | undefined;
  /** The tool that runs code; undefined where none does. */
  readonly code: string | undefined;
}

type Shown = Pick<ResultParts, "value" | "blocks">;

export interface Shortened {
  /** JSON of at most so many bytes. */
  readonly preview: (room: number) => Raw;
  /** Says what happened and what to do. */
  readonly note: string;
  /** A content block, where the whole could be kept. */
  readonly link: Raw | undefined;
}

function readingOf(uri: string, how: Budget["how"], code: Budget["code"]): string {
  // Code reads by the same tool.
  if (!how) return "The link has the whole result.";
  const inCode = code ? ` Or use the whole result in ${code} without showing it: await read("${uri}").` : "";
  return `Read on with ${how(uri)}: each page names the next; find, from and lines select lines.${inCode}`;
}

/** `parts`: those of the result, where they are known already. */
export function shorten(
  result: Raw,
  { store, caller, source, how, code }: Budget,
  parts: Shown = partsOf(result),
): Shortened {
  const sketch = sketchOf(parts.value);
  const stored = store.put(caller, source, result);
  const size = result.length.toLocaleString("en");
  const reading = stored
    ? readingOf(stored.uri, how, code)
    : "It is too large to store: make a narrower call to see more.";
  const held = parts.blocks.length > 0 ? ` It also contains ${blocksOf(parts.blocks)}.` : "";
  return {
    preview: (room) => asRaw(Buffer.from(previewOf(sketch, (json) => Buffer.byteLength(json) <= room))),
    note: `This result has ${size} bytes. Only a preview is shown.${held} ${reading}`,
    link:
      stored &&
      toRaw({
        type: "resource_link",
        uri: stored.uri,
        name: source.slice(0, 200),
        description: "The whole result, in pages",
        mimeType: "application/json",
        size: stored.bytes,
      }),
  };
}

/** The largest answer with a preview in it that may be shown; `write` may show the preview several times. */
export function withPreview({ preview }: Shortened, write: (shown: Raw) => Raw): Raw {
  for (let room = PREVIEW_BYTES; ; room = Math.floor(room * 0.85)) {
    const answer = write(preview(room));
    if (answer.length <= PREVIEW_BYTES || room < 100) return answer;
  }
}

/** A preview as text: what is a text is not quoted again. */
export function previewText(shown: Raw): string {
  return shown[0] === 0x22 ? (JSON.parse(shown.toString()) as string) : shown.toString();
}

/** The child's result within the budget, in the form of a result of its own. */
export function shortResult(result: Raw, budget: Budget): Raw {
  const short = shorten(result, budget);
  const [structured, isError, meta] = members(result, ["structuredContent", "isError", "_meta"]);
  const write = (text: string, preview: Raw | undefined): Raw =>
    joinObject([
      ["content", joinArray([toRaw({ type: "text", text }), ...(short.link ? [short.link] : [])])],
      ["structuredContent", preview],
      ["isError", isError],
      ["_meta", meta && meta.length <= LONGEST_META ? meta : undefined],
    ]);
  const keepsStructure = structured?.[0] === 0x7b;
  const room = PREVIEW_BYTES - write(`${short.note}\n`, keepsStructure ? toRaw({}) : undefined).length;
  const share = keepsStructure ? Math.floor(room * TEXT_SHARE) : room;
  const text = shownIn(short, share);
  return write(`${short.note}\n${text}`, keepsStructure ? objectIn(short, room - share) : undefined);
}

/** As text inside of JSON, where quotes count twice. */
function shownIn({ preview }: Shortened, room: number): string {
  for (let most = room; ; most = Math.floor(most * 0.85)) {
    const text = previewText(preview(most));
    if (Buffer.byteLength(JSON.stringify(text)) - 2 <= room || most < 100) return text;
  }
}

/** What is declared as an object stays one. */
function objectIn({ preview }: Shortened, room: number): Raw {
  const json = preview(room);
  return json[0] === 0x7b ? json : joinObject([["…", json]]);
}

function blocksOf(blocks: readonly Raw[]): string {
  const named = blocks.slice(0, MOST_BLOCKS).map((block) => {
    const [type, mimeType] = members(block, ["type", "mimeType"]).map((raw) =>
      raw?.[0] === 0x22 ? (JSON.parse(raw.toString()) as string) : "",
    );
    return `${[type, mimeType].filter(Boolean).join(" ").slice(0, 60)} (${block.length.toLocaleString("en")} bytes)`;
  });
  const rest = blocks.length - named.length;
  return `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
