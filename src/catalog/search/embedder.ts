/** A client for any OpenAI-compatible embeddings endpoint. Sends its key nowhere else, not even into an error: redirects are refused. Trusts no answer. */
import { createHash } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";

export interface EmbedderSettings {
  /** The endpoint, or what `/embeddings` is added to. */
  readonly url: URL;
  readonly model: string;
  readonly key: string | undefined;
  /** How long a question may wait for its vectors. */
  readonly timeoutMs: number;
}

export interface Embedder {
  /** The same for the same endpoint and model: what vectors can be kept under. */
  readonly id: string;
  readonly timeoutMs: number;
  /** One unit vector per text, all of one length. Rejects on anything else. */
  embed(texts: readonly string[], timeoutMs: number): Promise<Float32Array[]>;
}

const MOST_DIMS = 8_192;
/** A number takes at most this many characters in JSON. */
const BYTES_PER_NUMBER = 32;

export function createEmbedder(settings: EmbedderSettings, clock: Clock): Embedder {
  const { model, key, timeoutMs } = settings;
  const url = endpointOf(settings.url);
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (key) headers["authorization"] = `Bearer ${key.trim()}`;

  return {
    id: createHash("sha256").update(`${url.href}\n${model}`).digest("hex").slice(0, 24),
    timeoutMs,
    async embed(texts, patienceMs) {
      const abort = new AbortController();
      const timer = clock.after(patienceMs, () => abort.abort());
      try {
        const body = JSON.stringify({ model, input: texts, encoding_format: "float" });
        const { signal } = abort;
        const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
        if (!response.ok) {
          await response.body?.cancel();
          throw new Refusal(`the embedder answered ${response.status}`);
        }
        const most = 10_000 + texts.length * MOST_DIMS * BYTES_PER_NUMBER;
        return vectorsOf(parse(await readBounded(response, most)), texts.length);
      } catch (error) {
        throw abort.signal.aborted ? new Refusal("the embedder took too long") : harmless(error);
      } finally {
        timer.cancel();
      }
    },
  };
}

/** Said in words of ours. */
class Refusal extends Error {}

/** What the platform throws may hold the key or the address with its credentials; of that only a code is kept. */
function harmless(error: unknown): Error {
  if (error instanceof Refusal) return error;
  const code = ((error as Error).cause as { code?: unknown } | undefined)?.code;
  const reason = typeof code === "string" ? code : "is its address or key malformed?";
  return new Refusal(`the embedder could not be reached: ${reason}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal("the embedder answered no JSON");
  }
}

function endpointOf(base: URL): URL {
  const url = new URL(base.href);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/embeddings") ? path : `${path}/embeddings`;
  return url;
}

async function readBounded(response: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > most) throw new Refusal("the embedder's answer is too long");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new Refusal("the embedder answered for other texts");
  const vectors: Float32Array[] = [];
  for (const [place, entry] of data.entries()) {
    const { index, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown };
    const at = typeof index === "number" ? index : place;
    if (!Number.isInteger(at) || at < 0 || at >= count || vectors[at])
      throw new Refusal("the embedder's order is wrong");
    vectors[at] = unitOf(embedding);
  }
  const dims = vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== dims))
    throw new Refusal("the embedder's vectors differ in length");
  return vectors;
}

function unitOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MOST_DIMS) {
    throw new Refusal("the embedder sent no vector");
  }
  const vector = new Float32Array(embedding.length);
  let square = 0;
  for (const [d, value] of embedding.entries()) {
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new Refusal("the embedder sent no numbers");
    vector[d] = value;
    square += value * value;
  }
  if (!(square > 0) || !Number.isFinite(square)) throw new Refusal("the embedder sent an empty vector");
  const scale = 1 / Math.sqrt(square);
  return vector.map((value) => value * scale);
}
