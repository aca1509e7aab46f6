/** Reads a body up to a limit. What too much means is for the caller to say. */

/** Undefined if there are more bytes than `most`. The rest is not read. */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}
