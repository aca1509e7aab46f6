/**
 * `skills/get` and `resources/directory/read`: asked of the server that the address names, and answered with
 * its addresses. The files of skills are read like all resources.
 */
import { childrenOf, FOLDERS_OFFER, isSafeUri, readSkill, SKILLS_OFFER } from "../../catalog/skill.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import { FOLDER_TYPE } from "../../kernel/skill-rules.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, member, withMember } from "../../rpc/slice.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { addressed, awaitLinkedServer, type ItemTarget } from "./addressed.ts";
import { type ItemRequests, textAt } from "./item-requests.ts";
import { CACHE_HINTS, skillAt, withAddresses } from "./skill-entry.ts";
import { addressOf } from "./uris.ts";

/** Longest wait for a server whose skills are not known. */
const LIST_WAIT_MS = 3_000;

export class SkillRequests {
  readonly #scope: Scope;
  readonly #items: Pick<ItemRequests, "forward">;

  constructor(scope: Scope, items: Pick<ItemRequests, "forward">) {
    this.#scope = scope;
    this.#items = items;
  }

  /** The entry of one skill, also of one that its server does not list. */
  async get(request: ClientRequest): Promise<Raw> {
    const uri = textAt(request, "uri");
    const unknown = (): RpcError => RpcError.of(INVALID_PARAMS, `No skill is served at ${uri}`, { uri });
    const target = await this.#target(request, uri);
    if (!target || !this.#offers(target, request, SKILLS_OFFER)) throw unknown();
    const result = await this.#ask(request, target, unknown);
    const written = isObject(result) ? member(result, "skill") : undefined;
    let problem = "it is missing";
    const skill = written && readSkill(target.server, written, (text) => (problem = text));
    if (skill?.name !== target.uri)
      throw RpcError.of(INTERNAL_ERROR, `The entry of ${uri} cannot be used: ${problem}`, { uri });
    const renamed = withMember(result, "skill", skillAt(skill, addressOf(target.server, skill.name)));
    return CACHE_HINTS.reduce(
      (answer, [key, value]) => (member(answer, key) ? answer : withMember(answer, key, value)),
      renamed,
    );
  }

  /**
   * The direct children of a folder. A server that cannot list folders has said in its entries what is in
   * them.
   */
  async readFolder(request: ClientRequest): Promise<Raw> {
    const uri = textAt(request, "uri");
    const unknown = (): RpcError => RpcError.of(INVALID_PARAMS, `${uri} is not a folder`, { uri });
    const target = await this.#target(request, uri);
    if (!target) throw unknown();
    const { server, uri: folder } = target;
    if (this.#offers(target, request, FOLDERS_OFFER)) {
      const result = await this.#ask(request, target, unknown);
      return withAddresses(result, "resources", server);
    }
    const { skills = [] } = this.#scope.view(request.origin).snapshot.listings.get(server) ?? {};
    const children = childrenOf(folder, skills);
    if (children.length === 0) throw unknown();
    return toRaw({
      resources: children.map(({ uri: own, size }) => ({
        uri: addressOf(server, own),
        name: nameOf(own),
        ...(size === undefined ? { mimeType: FOLDER_TYPE } : { size }),
      })),
    });
  }

  async #target({ origin }: ClientRequest, uri: string): Promise<ItemTarget | undefined> {
    const scope = this.#scope;
    await scope.view(origin).loadCached();
    let target = addressed(scope, uri, origin) ?? this.#only(uri);
    if (!target) {
      const server = await awaitLinkedServer(scope, uri, origin);
      target = server === undefined ? undefined : { server, uri };
    }
    if (!target || !isSafeUri(target.uri) || !scope.has(target.server, origin)) return undefined;
    await scope.loader.loadMissing([target.server], origin, LIST_WAIT_MS, "skills");
    // With its list it may be known that the server begins its own URIs with its name.
    return addressed(scope, uri, origin) ?? target;
  }

  /** A single server decides itself what it has. */
  #only(uri: string): ItemTarget | undefined {
    const [only, ...others] = this.#scope.specs().keys();
    return only === undefined || others.length > 0 ? undefined : { server: only, uri };
  }

  #offers({ server }: ItemTarget, { origin }: ClientRequest, offer: string): boolean {
    const { about } = this.#scope.view(origin).snapshot.listings.get(server) ?? {};
    return about?.offers?.split(" ").includes(offer) ?? false;
  }

  #ask(request: ClientRequest, target: ItemTarget, unknown: () => RpcError): Promise<Raw> {
    const params = withMember(request.params ?? EMPTY_OBJECT, "uri", toRaw(target.uri));
    return this.#items.forward(request, target.server, params).catch((error: unknown) => {
      throw error instanceof RpcError && error.code === METHOD_NOT_FOUND ? unknown() : error;
    });
  }
}

function nameOf(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
}
