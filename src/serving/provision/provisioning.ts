/**
 * Finds servers in registry and gallery for clients and administrators, and adds them when an administrator
 * approves.
 */

import type { EntryContext } from "../../config/entry-context.ts";
import type { Engine } from "../../engine/engine.ts";
import { NO_CLIENT } from "../../engine/trial.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { GatewayControl } from "../../gateway/control.ts";
import { find } from "../../gateway/names.ts";
import type {
  OfferQuery,
  Offers,
  ProvisionApproval,
  ProvisioningControl,
  ProvisionRequest,
} from "../../gateway/provisioning-control.ts";
import { Refusal } from "../../gateway/refusal.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Actor, actorOf, type Principal } from "../../kernel/principal.ts";
import type { Signal } from "../../kernel/signal.ts";
import type { Candidate, Entry } from "../../provision/candidate.ts";
import type { Installer } from "../../provision/install.ts";
import { planOf } from "../../provision/plan.ts";
import type { CandidateSource } from "../../provision/provision.ts";
import type { RegistrySource } from "../../provision/registry/base.ts";
import type { ShownCandidate } from "../../provision/show.ts";
import type { ProvisionCaller, Scope, ServerSearch } from "../../surface/scope.ts";
import type { StoredBundles } from "../shared/stored-bundles.ts";
import { offersOf } from "./offers.ts";
import type { KeptRequest, ProvisionRequests } from "./requests.ts";
import { TeamConfigWriter } from "./team-config-writer.ts";
import { teamPolicy } from "./team-policy.ts";

export interface ProvisioningParts {
  readonly home: string;
  readonly entryContext: EntryContext;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the official registry. */
  readonly registry?: RegistrySource | undefined;
  readonly engine: Pick<Engine, "trial" | "catalog">;
  readonly control: () => GatewayControl;
  readonly requests: ProvisionRequests;
  /** Set if other gateways run the same servers. */
  readonly bundles?: StoredBundles | undefined;
}

interface Sources {
  readonly registry: CandidateSource & { close(): Promise<void> };
  readonly gallery: CandidateSource;
}

export class Provisioning implements ProvisioningControl {
  readonly #parts: ProvisioningParts;
  #sources: Promise<Sources> | undefined;

  constructor(parts: ProvisioningParts) {
    this.#parts = parts;
  }

  /** Runs `mcp_provision` at one endpoint. */
  async provision(
    at: { readonly scope: Scope; readonly endpoint: () => CompiledEndpoint },
    wanted: ServerSearch,
    seeker: ProvisionCaller,
  ): Promise<object> {
    const { home, log, entryContext, control, bundles } = this.#parts;
    const { scope, endpoint } = at;
    const actor = actorOf(seeker.origin.principal);
    const writer = new TeamConfigWriter({ control: control(), entryContext, endpoint, actor, bundles });
    const [{ Provisioner }, sources] = await Promise.all([
      import("../../provision/provision.ts"),
      this.#load(),
    ]);
    const provisioner = new Provisioner({
      home,
      log,
      ...sources,
      env: entryContext.env,
      view: (origin) => scope.view(origin),
      loader: scope.loader,
      servers: () => [...scope.specs().keys()],
      policy: teamPolicy({
        installer: await this.#installer(writer),
        writer,
        configured: () => JSON.stringify([...scope.specs().keys()]),
        withheld: () => (endpoint().namespaces.length > 0 ? undefined : "the endpoint has no namespace"),
        request: (match, by) => this.#request(match, by, { endpoint: endpoint(), intent: wanted.intent }),
      }),
    });
    return await provisioner.provision(wanted, seeker);
  }

  async search(wanted: OfferQuery): Promise<Offers> {
    const { entryContext, control } = this.#parts;
    const { confined } = await import("../../provision/confined.ts");
    const context = { ...entryContext, sandbox: control().compiled.settings?.spec.sandbox };
    return await offersOf(await this.#load(), wanted, entryContext.env, (entry, from) =>
      confined(entry, { ...context, foreign: from === "registry" }),
    );
  }

  requests(): Promise<readonly ProvisionRequest[]> {
    return this.#parts.requests.list();
  }

  async approve(uuid: string, approval: ProvisionApproval): Promise<ProvisionRequest> {
    const { requests, control, entryContext, bundles } = this.#parts;
    const request = await this.#pending(uuid);
    const { compiled } = control();
    const endpoint = compiled.endpoints.get(request.endpoint.uuid);
    if (!endpoint) throw new Refusal("not_found", "The endpoint of the request no longer exists");
    const { namespace, values = {}, by, signal } = approval;
    if (namespace !== undefined && !find(compiled.objects.namespace, namespace))
      throw new Refusal("not_found", `There is no namespace "${namespace.slice(0, 128)}"`);
    const writer = new TeamConfigWriter({
      control: control(),
      entryContext,
      endpoint: () => endpoint,
      namespace,
      actor: by,
      bundles,
    });
    const candidate: Candidate = { ...request.candidate, entry: withValues(request.candidate.entry, values) };
    const env = { ...entryContext.env, ...values };
    const plan = planOf(candidate, env);
    if (plan.missing.length > 0)
      throw new Refusal(
        "invalid",
        `It needs ${plan.missing.join(", ")}: enter their values, or set them where the gateway is started`,
      );
    const installer = await this.#installer(writer, env);
    const { name } = await installed(
      installer.install(plan, { origin: NO_CLIENT, signal, report: () => {} }),
    );
    const server = find(control().compiled.objects.server, name);
    return this.#decided(
      await requests.decide(uuid, {
        state: "approved",
        by,
        ...(server && { server: { uuid: server.uuid, name } }),
      }),
    );
  }

  async refuse(
    uuid: string,
    decision: { readonly by: Actor; readonly reason?: string | undefined },
  ): Promise<ProvisionRequest> {
    await this.#pending(uuid);
    return this.#decided(await this.#parts.requests.decide(uuid, { state: "refused", ...decision }));
  }

  /** Stops reading the registry. */
  async close(): Promise<void> {
    await (await this.#sources?.catch(() => undefined))?.registry.close();
  }

  async #pending(uuid: string): Promise<KeptRequest> {
    const request = await this.#parts.requests.find(uuid);
    if (!request) throw new Refusal("not_found", `There is no request "${uuid.slice(0, 128)}"`);
    if (request.state !== "pending") throw decidedAlready(request.state);
    return request;
  }

  #decided(request: ProvisionRequest | undefined): ProvisionRequest {
    if (!request) throw decidedAlready("decided");
    return request;
  }

  async #request(
    { plan }: ShownCandidate,
    { kind, id, name = id }: Principal,
    { endpoint, intent }: { readonly endpoint: CompiledEndpoint; readonly intent: string },
  ): Promise<ProvisionRequest> {
    const { candidate, entry, missing } = plan;
    const { uuid, name: path } = endpoint.object;
    return await this.#parts.requests.ask({
      endpoint: { uuid, name: path },
      principal: { kind, id, name },
      intent,
      id: candidate.id,
      name: candidate.name,
      entry: { ...entry },
      missing,
      candidate,
    });
  }

  async #installer(writer: TeamConfigWriter, env = this.#parts.entryContext.env): Promise<Installer> {
    const { home, clock, log, engine, control } = this.#parts;
    const { Installer: Installing } = await import("../../provision/install.ts");
    return new Installing({
      env,
      clock,
      log,
      writer,
      async unpack(candidate: Candidate, signal: Signal) {
        const { fetchBundle } = await import("../../provision/registry/bundle.ts");
        return await fetchBundle(candidate, { home, env, clock, signal });
      },
      trial: (spec, signal) => engine.trial(spec, signal),
      async connect(name) {
        const server = find(control().compiled.objects.server, name);
        if (!server) return [];
        await control().connect(server.uuid);
        return engine.catalog.snapshot.listings.get(server.uuid)?.tools ?? [];
      },
    });
  }

  #load(): Promise<Sources> {
    this.#sources ??= this.#read().catch((error: unknown) => {
      this.#sources = undefined;
      throw error;
    });
    return this.#sources;
  }

  async #read(): Promise<Sources> {
    const { registry: source, home, clock, log, entryContext } = this.#parts;
    const [{ Registry }, { galleryCandidates }] = await Promise.all([
      import("../../provision/registry/registry.ts"),
      import("../../provision/gallery/gallery.ts"),
    ]);
    return {
      registry: new Registry({ source, home, env: entryContext.env, clock, log }),
      gallery: { candidates: async () => ({ candidates: await galleryCandidates() }) },
    };
  }
}

function decidedAlready(state: string): Refusal {
  return new Refusal("decided", `Somebody else decided first: it is already ${state}`);
}

/** A server that cannot be started is the fault of the input, so the error becomes a Refusal. */
async function installed<T>(installing: Promise<T>): Promise<T> {
  try {
    return await installing;
  } catch (error) {
    if (MetaMcpError.is(error)) throw new Refusal("invalid", error.message);
    throw error;
  }
}

/** Replaces variables in the entry by the given values. */
function withValues(entry: Entry, values: Readonly<Record<string, string>>): Entry {
  const filled = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [
        name,
        text.replaceAll(/\$\{(\w+)\}/g, (whole, variable: string) =>
          Object.hasOwn(values, variable) ? (values[variable] ?? whole) : whole,
        ),
      ]),
    );
  if ("command" in entry) return { ...entry, ...(entry.env && { env: filled(entry.env) }) };
  return { ...entry, ...(entry.headers && { headers: filled(entry.headers) }) };
}
