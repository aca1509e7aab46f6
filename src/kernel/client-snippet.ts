/** An endpoint as an entry in the config of MCP clients. */
import { ANY_OBJECT, object, type Static, TEXT } from "./json-schema.ts";

export interface Remote {
  /** The name of the server in the client. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It has few tools, which a client should show to the model at once. */
  readonly few: boolean;
}

export const CLIENT_SNIPPET = object(
  {
    client: TEXT,
    title: TEXT,
    file: { ...TEXT, description: "the file it belongs in, as on Linux" },
    files: {
      ...object({ linux: TEXT, mac: TEXT, windows: TEXT }),
      description: "the file on each system",
    },
    text: { ...TEXT, description: "the text to paste; replace KEY with your key" },
    entry: { ...ANY_OBJECT, description: "the entry alone, for links that install it" },
  },
  { command: { ...TEXT, description: "the command that adds it, if the client has one" } },
);
export type ClientSnippet = Static<typeof CLIENT_SNIPPET>;
