/**
 * Updates the catalog from connected children: with their lists after the handshake, and when they report a
 * change.
 */
import type { About, Catalog } from "../catalog/catalog.ts";
import { CAPABILITY, ITEM_KINDS, type ItemKind } from "../catalog/item.ts";
import type { Ask } from "../catalog/list-all.ts";
import { declaredSkills, FOLDERS_OFFER, SKILLS_OFFER } from "../catalog/skill.ts";
import type { HandshakeResult } from "../child/handshake.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { entries, isObject, member } from "../rpc/slice.ts";

const nothingListed = (): Promise<Raw> => Promise.resolve(toRaw({ tools: [] }));

/** They are kept in memory and in every answer to a handshake. */
const LONGEST_EXTENSIONS = 16_384;

/** The pause between two requests for the same list, for children that report changes all the time. */
const PAUSE_MS = 100;

export interface RefresherParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
}

export class Refresher {
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #log: Log;
  /** The last handshakes, and how to ask these connections. By server and key. */
  readonly #connected = new Map<string, { readonly handshake: HandshakeResult; readonly ask: Ask }>();
  /** Lists that are refreshing or in the pause after it, with the refresh that must follow. */
  readonly #next = new Map<string, (() => Promise<void>) | undefined>();

  constructor({ catalog, clock, log }: RefresherParts) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#log = log;
    catalog.listAgain = (from) => this.listAgain(from);
  }

  /**
   * Resolves when the tools are known. Does not wait for prompts and resources, because no call depends on
   * them.
   */
  onHandshake(from: ListSource, handshake: HandshakeResult, ask: Ask): Promise<void> {
    this.#connected.set(idOf(from), { handshake, ask });
    const tools = this.#tools(from, handshake, ask);
    for (const kind of ITEM_KINDS) void this.#list(from, kind, handshake, ask);
    return tools;
  }

  onListChanged(from: ListSource, method: string, ask: Ask): void {
    const { server } = from;
    const id = idOf(from);
    const { handshake } = this.#connected.get(id) ?? {};
    if (!handshake) return;
    if (method === "notifications/tools/list_changed") {
      this.#refreshOnce(`${id} tools`, () =>
        this.#tools(from, handshake, ask).catch((error: Error) => {
          if (MetaMcpError.is(error) && error.code === "cancelled") return;
          this.#log.warn(`${server}: its tools could not be listed: ${error.message}`, { server });
        }),
      );
      return;
    }
    for (const kind of ITEM_KINDS)
      if (method === `notifications/${CAPABILITY[kind]}/list_changed`)
        this.#refreshOnce(`${id} ${kind}`, () => this.#list(from, kind, handshake, ask));
  }

  /** Lists again over the connection, if it still lives. */
  async listAgain(from: ListSource): Promise<boolean> {
    const { handshake, ask } = this.#connected.get(idOf(from)) ?? {};
    if (!handshake || !ask) return false;
    try {
      const offered = Object.values(CAPABILITY).find((capability) => names(handshake, capability));
      if (names(handshake, "tools")) await this.#tools(from, handshake, ask);
      // An item list that fails counts as empty, so ask first whether the connection lives.
      else if (offered !== undefined) await ask(`${offered}/list`, undefined);
    } catch {
      return false;
    }
    await Promise.all(ITEM_KINDS.map((kind) => this.#list(from, kind, handshake, ask)));
    return true;
  }

  /**
   * Runs one refresh of a list at a time, with a pause after each. Of further requests meanwhile only the
   * last one runs.
   */
  #refreshOnce(list: string, refresh: () => Promise<void>): void {
    if (this.#next.has(list)) {
      this.#next.set(list, refresh);
      return;
    }
    this.#next.set(list, undefined);
    const runNext = (): void => {
      const next = this.#next.get(list);
      this.#next.delete(list);
      if (next) this.#refreshOnce(list, next);
    };
    void refresh().then(() => this.#clock.after(PAUSE_MS, runNext));
  }

  #tools(from: ListSource, handshake: HandshakeResult, ask: Ask): Promise<void> {
    const about = aboutOf(handshake);
    return this.#catalog.refresh(from, names(handshake, "tools") ? ask : nothingListed, about);
  }

  #list(from: ListSource, kind: ItemKind, handshake: HandshakeResult, ask: Ask): Promise<void> {
    return this.#catalog.refreshItems(from, kind, offers(handshake, kind) ? ask : undefined);
  }
}

function idOf({ server, key }: ListSource): string {
  return JSON.stringify([server, key]);
}

function offers(handshake: HandshakeResult, kind: ItemKind): boolean {
  if (kind === "skills") return declaredSkills(handshake.capabilities) !== undefined;
  return names(handshake, CAPABILITY[kind]);
}

function names({ capabilities }: HandshakeResult, capability: string): boolean {
  return entries(capabilities).some(([name]) => name === capability);
}

function aboutOf({ era, title, version, instructions, capabilities }: HandshakeResult): About {
  const skills = declaredSkills(capabilities);
  const offered = [
    ...entries(capabilities).map(([name]) => name),
    ...(skills ? [SKILLS_OFFER] : []),
    ...(skills?.folders ? [FOLDERS_OFFER] : []),
  ];
  const extensions = member(capabilities, "extensions");
  return {
    era,
    offers: [...new Set(offered)].toSorted().join(" "),
    ...(extensions && isExtensions(extensions) && { extensions: extensions.toString() }),
    ...(title && { title }),
    ...(version && { version }),
    ...(instructions && { instructions }),
  };
}

function isExtensions(raw: Raw): boolean {
  return isObject(raw) && raw.length <= LONGEST_EXTENSIONS;
}
