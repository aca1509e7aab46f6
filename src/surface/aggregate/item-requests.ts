/**
 * Requests for prompts, resources and completions: finds the server and forwards the request with the
 * server's own names and URIs.
 */
import type { Item } from "../../catalog/item.ts";
import { repairItemResult } from "../../catalog/repair.ts";
import { isPage } from "../../catalog/tool-app.ts";
import { callerOf, type Repeat, type Uplink } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, scalarOf, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, member, members, withMember, withMemberDeduplicated } from "../../rpc/slice.ts";
import { forward } from "../forward.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, ListName } from "../surface.ts";
import { type ItemTarget, linkedServer } from "./addressed.ts";
import { awaitNamed } from "./await-named.ts";
import type { ListReader } from "./list-reader.ts";
import type { MergedLists } from "./merged-list.ts";
import { withAddresses } from "./skill-entry.ts";
import { certainTarget, isNobodys, likelyTargets } from "./targets.ts";
import { unknownName } from "./unknown-name.ts";
import { addressOf, isSkillUri } from "./uris.ts";

const RESOURCE_NOT_FOUND = -32002;

export class ItemRequests {
  readonly #scope: Scope;
  readonly #listsOf: (asker: Asker) => MergedLists;
  readonly #reader: ListReader;

  constructor(scope: Scope, listsOf: (asker: Asker) => MergedLists, reader: ListReader) {
    this.#scope = scope;
    this.#listsOf = listsOf;
    this.#reader = reader;
  }

  getPrompt(request: ClientRequest): Promise<Raw> {
    return this.#withPrompt(request, textAt(request, "name"), ({ server, name }) =>
      this.forward(request, server, withMemberDeduplicated(request.params as Raw, "name", toRaw(name))),
    );
  }

  #withPrompt(request: ClientRequest, name: string, use: (prompt: Item) => Promise<Raw>): Promise<Raw> {
    const { prompts } = this.#listsOf(request.origin);
    const known = prompts.list.get(name);
    if (known) return use(known);
    return awaitNamed(this.#scope, { kind: "prompts", name, merged: prompts }, request, (found) => {
      if (!found) throw unknownName("prompt", name, prompts.list);
      return use(found);
    });
  }

  useResource(request: ClientRequest): Promise<Raw> {
    const uri = textAt(request, "uri");
    const params = request.params as Raw;
    return this.#atTarget(request, uri, async (target) => {
      const result = await this.forward(
        request,
        target.server,
        withMember(params, "uri", toRaw(target.uri)),
        {
          // Updates of a subscription come after the request has ended, so they use the uplink of the
          // session.
          uplink:
            request.method === "resources/read"
              ? request.uplink
              : withClientUris(request.origin.uplink, target, uri),
        },
      );
      if (isPage(target.uri)) this.#scope.results.links.notePage(callerOf(request.origin), target.server);
      return target.uri === uri ? result : withAddresses(result, "contents", target.server);
    });
  }

  complete(request: ClientRequest): Promise<Raw> {
    const params = request.params ?? EMPTY_OBJECT;
    const ref = member(params, "ref");
    if (!ref || !isObject(ref)) throw RpcError.of(INVALID_PARAMS, "completion/complete needs a ref");
    const [name, uri] = members(ref, ["name", "uri"]).map(scalarOf);
    const renamed = (key: string, value: string): Raw =>
      withMemberDeduplicated(params, "ref", withMemberDeduplicated(ref, key, toRaw(value)));
    if (typeof uri === "string")
      return this.#atTarget(request, uri, (target) =>
        this.forward(request, target.server, renamed("uri", target.uri)),
      );
    if (typeof name !== "string")
      throw RpcError.of(INVALID_PARAMS, "The ref names neither a prompt nor a resource");
    return this.#withPrompt(request, name, (prompt) =>
      this.forward(request, prompt.server, renamed("name", prompt.name)),
    );
  }

  /**
   * Runs `use` with the server of the resource. If no server lists it, tries likely servers until one
   * succeeds.
   */
  #atTarget(request: ClientRequest, uri: string, use: (target: ItemTarget) => Promise<Raw>): Promise<Raw> {
    const listed = certainTarget(this.#scope, this.#listsOf(request.origin), uri, request.origin);
    // A link of another server does not count for a page before it is known whose tool names it.
    const certain = listed ?? (isPage(uri) ? undefined : this.#linked(request, uri));
    // The error must not name a server that is hidden from the client.
    const known = (target: ItemTarget): Promise<Raw> =>
      use(target).catch((error: unknown) => {
        throw MetaMcpError.is(error) && error.code === "server_not_found" ? notFound(uri) : error;
      });
    return certain ? known(certain) : this.#search(request, uri, known);
  }

  /** The server whose result linked to the resource. */
  #linked({ origin }: ClientRequest, uri: string): ItemTarget | undefined {
    const server = linkedServer(this.#scope, uri, origin);
    return server !== undefined && this.#scope.has(server, origin) ? { server, uri } : undefined;
  }

  async #search(
    request: ClientRequest,
    uri: string,
    use: (target: ItemTarget) => Promise<Raw>,
  ): Promise<Raw> {
    if (this.#scope.specs().size > 1) {
      const more: ListName[] = isPage(uri) ? ["tools"] : isSkillUri(uri) ? ["skills"] : [];
      const lists: ListName[] = [...more, "resources", "templates"];
      await Promise.all(lists.map((list) => this.#reader.loadMissing(list, request.origin)));
    }
    const { origin } = request;
    const certain =
      certainTarget(this.#scope, this.#listsOf(origin), uri, origin) ??
      (isNobodys(this.#scope, uri, origin) ? undefined : this.#linked(request, uri));
    const isEnd = request.method === "resources/unsubscribe";
    let refusal: unknown;
    for (const target of certain ? [certain] : likelyTargets(this.#scope, uri, origin, isEnd)) {
      try {
        return await use(target);
      } catch (error) {
        if (request.signal.aborted) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? notFound(uri);
  }

  forward(
    request: ClientRequest,
    server: string,
    params: Raw,
    { repeat = "safe", uplink = request.uplink }: { repeat?: Repeat; uplink?: Uplink } = {},
  ): Promise<Raw> {
    const { method } = request;
    const answer = forward(this.#scope, { server, method, params, repeat, uplink }, request);
    const mayNeedRepair = method === "prompts/get" || method === "resources/read";
    return mayNeedRepair ? answer.then((result) => repairItemResult(method, result)) : answer;
  }
}

function notFound(uri: string): RpcError {
  return RpcError.of(RESOURCE_NOT_FOUND, `Resource not found: ${uri}`, { uri });
}

/** Returns a required text member of the params. */
export function textAt({ method, params }: ClientRequest, key: string): string {
  const [raw] = params ? members(params, [key]) : [];
  const value = scalarOf(raw);
  if (typeof value !== "string") throw RpcError.of(INVALID_PARAMS, `${method} needs a ${key}`);
  return value;
}

/** Wraps the uplink so that notifications contain the URIs that the client knows. */
function withClientUris(uplink: Uplink, { server, uri }: ItemTarget, requested: string): Uplink {
  if (uri === requested) return uplink;
  return {
    notify(method, params) {
      const [changed] = params ? members(params, ["uri"]) : [];
      const own = changed && (fromRaw(changed) as string);
      uplink.notify(
        method,
        params && own ? withMember(params, "uri", toRaw(addressOf(server, own))) : params,
      );
    },
    request: (...args) => uplink.request(...args),
  };
}
