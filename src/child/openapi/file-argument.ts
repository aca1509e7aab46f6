/** Files in arguments: a text, or bytes in base64, with a name and a media type if the API wants them. */
import { isRecord } from "../../kernel/is-record.ts";
import type { Json } from "./documents.ts";

export interface FileContent {
  readonly bytes: Buffer;
  readonly name: string | undefined;
  readonly type: string | undefined;
}

export function fileSchema(description: string | undefined): Json {
  return {
    type: "object",
    description: `${description === undefined ? "A file" : description}: its content as \`text\`, or as \`base64\``,
    properties: {
      text: { type: "string" },
      base64: { type: "string", contentEncoding: "base64" },
      name: { type: "string" },
      type: { type: "string", description: "media type" },
    },
    additionalProperties: false,
  };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** A plain string is its text. Undefined if it is no file. */
export function fileOf(value: unknown): FileContent | undefined {
  if (typeof value === "string") return { bytes: Buffer.from(value), name: undefined, type: undefined };
  if (!isRecord(value)) return undefined;
  const { text, base64 } = value;
  const [name, type] = [value["name"], value["type"]].map((one) =>
    typeof one === "string" ? one : undefined,
  );
  if (typeof base64 === "string" && text === undefined) {
    const plain = base64.replaceAll(/\s/g, "");
    return BASE64.test(plain) ? { bytes: Buffer.from(plain, "base64"), name, type } : undefined;
  }
  return typeof text === "string" && base64 === undefined
    ? { bytes: Buffer.from(text), name, type }
    : undefined;
}
