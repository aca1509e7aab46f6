/** Asks at the address of a replica who is there, to say what is wrong before requests fail. */
import { request as httpRequest } from "node:http";
import type { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";

/** Answers the id of the replica. */
export const WHO = "/replica";
const TIMEOUT_MS = 5_000;

/** Returns what is wrong with the address of a replica; undefined if nothing is, or if it is not known. */
export async function problemAt(
  { id, address }: { readonly id: string; readonly address: string },
  self: string,
  agent: ChannelAgent,
): Promise<string | undefined> {
  try {
    const found = await whoIsAt(address, agent);
    if (found === id) return undefined;
    const who = found === self ? "this replica itself" : `replica ${found}`;
    return `the address ${address} of replica ${id} reaches ${who}: give each replica an address of its own`;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!code.startsWith("ERR_SSL") && code !== "EPROTO") return undefined;
    return `what answers at ${address}, the address of replica ${id}, has another secret key or another store`;
  }
}

function whoIsAt(address: string, agent: ChannelAgent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ ...endpointOf(address), agent, path: WHO, timeout: TIMEOUT_MS }, (answer) => {
      let text = "";
      answer.setEncoding("latin1").on("data", (part: string) => {
        text = (text + part).slice(0, 100);
      });
      answer.on("end", () => resolve(text)).on("error", reject);
    });
    asked.on("timeout", () => asked.destroy()).on("error", reject);
    asked.end();
  });
}
