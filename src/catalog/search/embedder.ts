/**
 * A client for OpenAI-compatible embeddings endpoints. Sends the key only there: refuses redirects, and no
 * error contains it. Checks each response.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import { readBounded } from "../../kernel/read-bounded.ts";

export interface EmbedderSettings {
  /** The endpoint, or its base URL without `/embeddings`. */
  readonly url: URL;
  readonly model: string;
  readonly key: string | undefined;
  /** How long a search may wait for the vectors of its question. */
  readonly timeoutMs: number;
}

export interface Embedder {
  /** Depends only on endpoint and model, so vectors can be cached under it. */
  readonly id: string;
  readonly timeoutMs: number;
  /**
   * Returns one unit vector per text, all with the same number of dimensions. Rejects if the response has
   * anything else.
   */
  embed(texts: readonly string[], timeoutMs: number): Promise<Float32Array[]>;
}

const MAX_DIMS = 8_192;
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
    async embed(texts, requestTimeoutMs) {
      const abort = new AbortController();
      const timer = clock.after(requestTimeoutMs, () => abort.abort());
      try {
        const body = JSON.stringify({ model, input: texts, encoding_format: "float" });
        const { signal } = abort;
        const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
        if (!response.ok) {
          await response.body?.cancel();
          throw new EmbedderError(`the embedder answered ${response.status}`);
        }
        const maxBytes = 10_000 + texts.length * MAX_DIMS * BYTES_PER_NUMBER;
        const answer = await readBounded(response.body, maxBytes);
        if (!answer) throw new EmbedderError("the embedder's answer is too long");
        return vectorsOf(parse(answer.toString()), texts.length);
      } catch (error) {
        throw abort.signal.aborted ? new EmbedderError("the embedder took too long") : withoutSecrets(error);
      } finally {
        timer.cancel();
      }
    },
  };
}

/** Its message is written by us and contains no secrets. */
class EmbedderError extends Error {}

/** Errors of the platform may contain the key, or the URL with credentials. Keeps only their code. */
function withoutSecrets(error: unknown): Error {
  if (error instanceof EmbedderError) return error;
  const code = ((error as Error).cause as { code?: unknown } | undefined)?.code;
  const reason = typeof code === "string" ? code : "is its address or key malformed?";
  return new EmbedderError(`the embedder could not be reached: ${reason}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EmbedderError("the embedder answered no JSON");
  }
}

function endpointOf(base: URL): URL {
  const url = new URL(base.href);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/embeddings") ? path : `${path}/embeddings`;
  return url;
}

function vectorsOf(response: unknown, count: number): Float32Array[] {
  const data = (response as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new EmbedderError("the embedder answered for other texts");
  const vectors: Float32Array[] = [];
  for (const [position, entry] of data.entries()) {
    const { index, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown };
    const at = typeof index === "number" ? index : position;
    if (!Number.isInteger(at) || at < 0 || at >= count || vectors[at])
      throw new EmbedderError("the embedder's order is wrong");
    vectors[at] = unitOf(embedding);
  }
  const dims = vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== dims))
    throw new EmbedderError("the embedder's vectors differ in length");
  return vectors;
}

function unitOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MAX_DIMS) {
    throw new EmbedderError("the embedder sent no vector");
  }
  const vector = new Float32Array(embedding.length);
  let square = 0;
  for (const [d, value] of embedding.entries()) {
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new EmbedderError("the embedder sent no numbers");
    vector[d] = value;
    square += value * value;
  }
  if (!(square > 0) || !Number.isFinite(square)) throw new EmbedderError("the embedder sent an empty vector");
  const scale = 1 / Math.sqrt(square);
  return vector.map((value) => value * scale);
}
