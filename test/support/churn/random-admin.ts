/**
 * An administrator who makes random changes of servers, namespaces and endpoints, several at the same time.
 */
import { expect } from "vitest";
import type { Random } from "../random-json.ts";
import type { Answer, TeamGateway } from "../team-gateway.ts";
import { fixture } from "../temp.ts";

export const SERVERS: readonly string[] = ["s0", "s1", "s2", "s3"];
export const NAMESPACES: readonly string[] = ["n0", "n1", "n2", "n3", "n4", "n5"];
export const ENDPOINTS: readonly string[] = Array.from({ length: 10 }, (_, n) => `e${n}`);
/** The tools of each server. A rule may give one of them the name of another. */
export const TOOLS: readonly string[] = ["count", "count_unsafe", "count_safe"];
export const SURFACES = ["meta", "metatools", "aggregate"] as const;
/** Endpoints whose sessions are never ended, because the outcome of calls on an ended stream is unknown. */
export const LASTING_ENDPOINTS: readonly string[] = ENDPOINTS.slice(7);

type Body = Record<string, unknown>;

export class RandomAdmin {
  readonly #gateway: TeamGateway;
  readonly #random: Random;
  readonly #journal: (server: string) => string;
  readonly #pending = new Set<Promise<unknown>>();
  #generation = 0;
  /** The first revision with all objects. */
  #firstRevision = 0;
  /** Unexpected answers. */
  readonly faults: unknown[] = [];
  /** Number of changes that were refused because of a conflict with another change. */
  refused = 0;
  made = 0;

  constructor(gateway: TeamGateway, random: Random, journal: (server: string) => string) {
    this.#gateway = gateway;
    this.#random = random;
    this.#journal = journal;
  }

  async createAll(): Promise<void> {
    for (const name of SERVERS) await this.#create("/mcp-servers", { name, ...this.#command(name) });
    for (const name of NAMESPACES)
      await this.#create("/namespaces", { name, servers: SERVERS.map((server) => ({ server })) });
    for (const [n, name] of ENDPOINTS.entries())
      await this.#create("/endpoints", { name, ...this.#endpoint(n) });
    this.#firstRevision = (await this.#gateway.api("GET", "/revisions?limit=1")).body.items[0].n - 1;
  }

  /** Starts one change and does not wait for it. */
  step(): void {
    const change = this.#change()
      .catch((error) => this.faults.push(error))
      .finally(() => this.#pending.delete(change));
    this.#pending.add(change);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #create(path: string, body: Body): Promise<void> {
    const { status, body: answer } = await this.#gateway.api("POST", path, body);
    expect(status, JSON.stringify(answer)).toBe(201);
  }

  #change(): Promise<void> {
    const random = this.#random;
    const dice = random.int(100);
    if (dice < 22) return this.#server(random.pick(SERVERS));
    if (dice < 62) return this.#patch(`/namespaces/${random.pick(NAMESPACES)}`, this.#rules());
    if (dice < 66) return this.#recreate("/namespaces", random.pick(NAMESPACES), this.#members());
    if (dice < 70) return this.#rollBack();
    const n = random.int(ENDPOINTS.length);
    const name = ENDPOINTS[n] as string;
    if (dice < 73 && !LASTING_ENDPOINTS.includes(name))
      return this.#recreate("/endpoints", name, this.#endpoint(n));
    return this.#patch(`/endpoints/${name}`, this.#endpointChange(name));
  }

  #server(name: string): Promise<void> {
    const random = this.#random;
    const path = `/mcp-servers/${name}`;
    const dice = random.int(10);
    if (dice < 3) return this.#patch(path, this.#command(name));
    if (dice < 5) return this.#patch(path, { disabled: random.chance(5) });
    if (dice < 9) return this.#patch(path, { description: `text ${random.int(1_000)}` });
    return this.#recreate("/mcp-servers", name, this.#command(name));
  }

  /** A command with a new flag, which the server ignores. It makes the command different. */
  #command(server: string): Body {
    return fixture("--journal", this.#journal(server), "--generation", String(this.#generation++));
  }

  #members(): Body {
    const servers = SERVERS.filter(() => !this.#random.chance(8));
    return { servers: servers.map((server) => ({ server, disabled: this.#random.chance(8) })) };
  }

  #rules(): Body {
    const random = this.#random;
    if (random.chance(4)) return this.#members();
    if (random.chance(8)) return { newTools: random.chance(4) ? "disabled" : "enabled" };
    const tools = SERVERS.filter(() => random.chance(2)).flatMap((server) => {
      // All names are rotated, so that none collides.
      const turn = random.int(TOOLS.length + 1);
      return TOOLS.map((tool, n) => ({
        server,
        tool,
        ...(turn < TOOLS.length && { name: TOOLS[(n + turn) % TOOLS.length] }),
        disabled: random.chance(4),
      }));
    });
    return { tools };
  }

  #endpoint(n: number): Body {
    const namespaces = NAMESPACES.filter(() => this.#random.chance(3));
    return {
      namespaces: namespaces.length > 0 ? namespaces : [NAMESPACES[n % NAMESPACES.length]],
      surface: SURFACES[n % SURFACES.length],
      openapi: true,
    };
  }

  #endpointChange(name: string): Body {
    const random = this.#random;
    const dice = LASTING_ENDPOINTS.includes(name) ? 0 : random.int(8);
    if (dice === 7) return { surface: random.pick(SURFACES) };
    if (dice > 4) return { disabled: random.chance(4) };
    return { namespaces: NAMESPACES.filter(() => random.chance(2)) };
  }

  async #patch(path: string, body: Body): Promise<void> {
    this.#check(await this.#gateway.api("PATCH", path, body), body);
  }

  async #recreate(path: string, name: string, body: Body): Promise<void> {
    const force = path === "/endpoints" ? "" : "?force=true";
    this.#check(await this.#gateway.api("DELETE", `${path}/${name}${force}`));
    this.#check(await this.#gateway.api("POST", path, { name, ...body }), body);
  }

  /** Rolls back to one of the last 15 revisions. That ends no session of a lasting endpoint. */
  async #rollBack(): Promise<void> {
    const { items } = (await this.#gateway.api("GET", "/revisions?limit=15")).body;
    const { n } = this.#random.pick((items as { n: number }[]).filter((one) => one.n > this.#firstRevision));
    this.#check(await this.#gateway.api("POST", `/revisions/${n}/rollback`));
  }

  /** The change was made as sent, or refused because of a concurrent change. */
  #check({ status, body: answer }: Answer, sent?: Body): void {
    if (status < 300) {
      this.made += 1;
      const { server: object = answer } = answer ?? {};
      // The answer has uuids in place of names, so references are not compared.
      for (const [field, value] of Object.entries(sent ?? {}))
        if (typeof value !== "object") expect(object[field]).toBe(value);
    } else {
      expect([404, 409, 422], JSON.stringify(answer)).toContain(status);
      this.refused += 1;
    }
  }
}
