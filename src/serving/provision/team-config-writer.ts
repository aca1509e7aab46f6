/** Writes added servers to a namespace of the gateway. */
import type { EntryContext } from "../../config/entry-context.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { GatewayControl } from "../../gateway/control.ts";
import { joinServer, runsSame } from "../../gateway/join-server.ts";
import type { Actor } from "../../kernel/principal.ts";
import type { Candidate, Entry } from "../../provision/candidate.ts";
import type { ConfigWriter } from "../../provision/config-writer.ts";
import { confined, type NewEntry } from "../../provision/confined.ts";
import type { StoredBundles } from "../shared/stored-bundles.ts";

export interface TeamConfigWriterParts {
  readonly control: Pick<GatewayControl, "change" | "compiled">;
  readonly entryContext: EntryContext;
  readonly endpoint: () => CompiledEndpoint;
  /** A uuid or name. Default: the first namespace of the endpoint. */
  readonly namespace?: string | undefined;
  readonly actor: Actor;
  /** Set if other gateways run the same servers. */
  readonly bundles?: StoredBundles | undefined;
}

export class TeamConfigWriter implements ConfigWriter {
  readonly context: EntryContext;
  readonly #parts: TeamConfigWriterParts;

  constructor(parts: TeamConfigWriterParts) {
    this.#parts = parts;
    this.context = parts.entryContext;
  }

  get location(): string {
    return `namespace "${this.#namespace ?? "?"}"`;
  }

  async check(): Promise<void> {
    if (this.#namespace === undefined) throw new Error("the endpoint has no namespace");
  }

  confined(entry: Entry, from: Candidate["from"]): Promise<NewEntry> {
    const { settings } = this.#parts.control.compiled;
    return Promise.resolve(
      confined(entry, {
        ...this.context,
        sandbox: settings?.spec.sandbox,
        foreign: from === "registry",
      }),
    );
  }

  async nameOf(given: Entry): Promise<string | undefined> {
    const { control, endpoint, bundles } = this.#parts;
    const entry = bundles?.named(given) ?? given;
    const parts = endpoint().parts.filter(({ part }) => !part.off);
    return parts.find(({ part }) => {
      const server = control.compiled.servers.get(part.server);
      return server && runsSame(server.object, { ...entry });
    })?.part.name;
  }

  async write(candidate: Candidate, given: Entry): Promise<string> {
    const { control, actor, bundles } = this.#parts;
    const { name, description } = candidate;
    const entry = (await bundles?.share(candidate, given)) ?? given;
    const joining = { name, description, entry: { ...entry }, namespace: this.#namespace ?? "" };
    const summary = `add server "${name}" to ${this.location}`;
    const { outcome } = await control.change(
      actor,
      (objects, context) => joinServer(objects, joining, context),
      { summary },
    );
    return outcome.server.name;
  }

  /** Nothing to do: a change is effective at once. */
  async apply(): Promise<void> {}

  get #namespace(): string | undefined {
    const { namespace, endpoint } = this.#parts;
    return namespace ?? endpoint().namespaces[0]?.object.name;
  }
}
