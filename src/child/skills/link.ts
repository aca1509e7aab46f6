/**
 * Serves folders of skills to one connection: `skills/list`, `skills/get`, and the files. Sees changes on the
 * disk, and answers with a file only if it has the digest of its entry.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { FOLDER_TYPE, MAX_SKILL_BYTES, SKILLS_EXTENSION } from "../../kernel/skill-rules.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Message } from "../../rpc/message.ts";
import { errorOf, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import type { Link, LinkEvents } from "../link.ts";
import { readWithin } from "./open-file.ts";
import {
  type Digests,
  digestOf,
  type ReadFile,
  type ReadSkill,
  type ReadSkills,
  readSkills,
  survey,
} from "./read-skills.ts";

/** How often the folders are looked at. */
const LOOK_MS = 2_000;
/** How often a file is read that changes while it is read. */
const MAX_READS = 3;
const NOTHING: ReadSkills = { skills: new Map(), files: new Map(), problems: [], stamp: "" };
const HINTS = { ttlMs: 0, cacheScope: "private" };

export interface SkillsLinkParts {
  readonly name: string;
  readonly folders: readonly string[];
  readonly log: Log;
  readonly clock: Clock;
}

export class SkillsLink implements Link {
  readonly peer: string;
  readonly #parts: SkillsLinkParts;
  readonly #events: LinkEvents;
  readonly #digests: Digests = new Map();
  readonly #reported = new Set<string>();
  #known = NOTHING;
  #looking: Promise<void> | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(parts: SkillsLinkParts, events: LinkEvents) {
    this.peer = parts.folders.join(", ");
    this.#parts = parts;
    this.#events = events;
    this.#lookLater();
  }

  send(message: Message): void {
    if (message.kind === "request") void this.#answer(message);
  }

  agreed(): void {}

  lastWords(): undefined {}

  close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    return Promise.resolve();
  }

  async #answer({ id, method, params }: Message & { kind: "request" }): Promise<void> {
    let answer: Message;
    try {
      const given = (params && fromRaw(params)) as { readonly uri?: unknown } | undefined;
      answer = { kind: "result", id, result: toRaw(await this.#resultOf(method, given?.uri)) };
    } catch (error) {
      if (!(error instanceof RpcError))
        this.#parts.log.warn(`its skills cannot be read: ${(error as Error).message}`, {
          server: this.#parts.name,
        });
      answer = { kind: "error", id, error: errorOf(error) as Raw };
    }
    if (!this.#closed) this.#events.onMessage(answer, undefined);
  }

  async #resultOf(method: string, uri: unknown): Promise<object> {
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: {
            resources: { listChanged: true },
            extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
          },
          serverInfo: { name: "metamcp-skills", title: "Skills", version: VERSION },
        };
      case "ping":
        return {};
      case "resources/list":
        return { resources: [] };
      case "resources/templates/list":
        return { resourceTemplates: [] };
    }
    await this.#look();
    switch (method) {
      case "skills/list":
        return { skills: [...this.#known.skills.values()].map(entryOf), ...HINTS };
      case "skills/get": {
        const skill = this.#known.skills.get(String(uri));
        if (!skill) throw RpcError.of(INVALID_PARAMS, `No skill is served at ${String(uri)}`);
        return { skill: entryOf(skill), ...HINTS };
      }
      case "resources/read":
        return { contents: [await this.#read(String(uri))] };
      case "resources/directory/read":
        return { resources: this.#childrenOf(String(uri)) };
    }
    throw RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }

  /** A file with the digest that `skills/get` gives at this moment. */
  async #read(uri: string): Promise<object> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const file = this.#known.files.get(uri);
      if (!file) throw RpcError.of(INVALID_PARAMS, `No file is served at ${uri}`);
      const content = await readWithin(file.root, file.path, MAX_SKILL_BYTES).catch(() => undefined);
      if (content && digestOf(content) === file.digest) return { uri, ...contentOf(file, content) };
      // Read anew, even if the file system does not tell that the file changed.
      this.#digests.delete(file.path);
      this.#known = { ...this.#known, stamp: "" };
      await this.#look();
    }
    throw RpcError.of(INTERNAL_ERROR, `${uri} is being changed: read it again later`);
  }

  #childrenOf(folder: string): readonly object[] {
    const within = `${folder}/`;
    const found = new Map<string, object>();
    for (const { uri, size } of this.#known.files.values()) {
      if (!uri.startsWith(within)) continue;
      const end = uri.indexOf("/", within.length);
      const child = end < 0 ? uri : uri.slice(0, end);
      const name = decodeURIComponent(child.slice(within.length));
      found.set(child, { uri: child, name, ...(end < 0 ? { size } : { mimeType: FOLDER_TYPE }) });
    }
    if (found.size === 0) throw RpcError.of(INVALID_PARAMS, `${folder} is not a folder`);
    return [...found.values()];
  }

  /** Several requests at once share one look. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const found = await survey(this.#parts.folders);
    if (found.stamp === this.#known.stamp) return;
    const before = this.#known;
    this.#known = await readSkills(found, this.#digests);
    for (const problem of this.#known.problems) this.#report(problem);
    if (before !== NOTHING && !this.#closed && differ(before, this.#known))
      this.#events.onMessage(
        { kind: "notification", method: "notifications/resources/list_changed", params: undefined },
        undefined,
      );
  }

  #report(problem: string): void {
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    this.#parts.log.warn(problem, { server: this.#parts.name });
  }

  #lookLater(): void {
    this.#timer = this.#parts.clock.after(LOOK_MS, () => {
      void this.#look()
        .catch(() => {})
        .then(() => {
          if (!this.#closed) this.#lookLater();
        });
    });
  }
}

function entryOf({ uri, frontmatter, files }: ReadSkill): object {
  return {
    uri,
    frontmatter,
    resources: files.map((file) => ({ uri: file.uri, digest: file.digest, size: file.size })),
  };
}

function differ(a: ReadSkills, b: ReadSkills): boolean {
  const written = ({ skills }: ReadSkills): string => JSON.stringify([...skills.values()]);
  return written(a) !== written(b);
}

/** Text if the bytes are UTF-8, so that they arrive as they are. */
function contentOf({ path }: ReadFile, content: Buffer): object {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    return { mimeType: path.endsWith(".md") ? "text/markdown" : "text/plain", text };
  } catch {
    return { mimeType: "application/octet-stream", blob: content.toString("base64") };
  }
}
