/** `${file:PATH}`: the content of a file, without the line break at its end. */
import { open } from "node:fs/promises";
import { codeOf } from "../home/file.ts";
import { SecretUnavailable } from "./unavailable.ts";

const LARGEST = 65_536;

/** Opened before it is checked, and without waiting, so that a pipe in its place blocks nothing. */
export async function secretInFile(path: string): Promise<string> {
  const { O_RDONLY, O_NONBLOCK } = (await import("node:fs")).constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK).catch((error: unknown) => {
    const code = codeOf(error);
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? "unknown"})`;
    throw new SecretUnavailable(`${path} ${why}`, { cause: error });
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new SecretUnavailable(`${path} is not a file`);
    if (found.size > LARGEST) throw new SecretUnavailable(`${path} is larger than ${LARGEST} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
