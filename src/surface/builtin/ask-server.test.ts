import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { toRaw } from "../../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import type { ClientRequest } from "../surface.ts";
import { askServer } from "./ask-server.ts";

const forwarded = {
  server: "files",
  method: "resources/read",
  params: toRaw({ uri: "x://y" }),
  tool: "read",
};

test.each([
  [METHOD_NOT_FOUND, "Method not found", "files has no resources."],
  [-32002, "gone", "files answered with an error: gone"],
])(
  "an error %i of the server becomes an execution_failed error that names the server",
  async (code, message, text) => {
    const scope = {
      call: () => Promise.reject(RpcError.of(code, message)),
      target: (server: string, tool: string) => ({ server, tool }),
      clock: new ManualClock(),
    };
    await expect(askServer(scope, forwarded, {} as ClientRequest)).rejects.toMatchObject({
      code: "execution_failed",
      message: text,
      context: { server: "files", tool_id: "metamcp:read" },
    });
  },
);
