/** An administrator who changes servers, namespaces and endpoints at random, without waiting for one change before the next. */
import { expect } from "vitest";
import type { Random } from "../random-json.ts";
import type { Answer, TeamGateway } from "../team-gateway.ts";
import { fixture } from "../temp.ts";

export const SERVERS: readonly string[] = ["s0", "s1", "s2", "s3"];
export const NAMESPACES: readonly string[] = ["n0", "n1", "n2", "n3", "n4", "n5"];
export const ENDPOINTS: readonly string[] = Array.from({ length: 10 }, (_, n) => `e${n}`);
/** Of each server; each can have the name of another, too. */
export const TOOLS: readonly string[] = ["count", "count_unsafe", "count_safe"];
export const SURFACES = ["meta", "metatools", "aggregate"] as const;
/** Their sessions are never ended: of a stream that ends nobody can say what became of its calls. */
export const LASTING: readonly string[] = ENDPOINTS.slice(7);

type Body = Record<string, unknown>;

export class RandomAdmin {
  readonly #gateway: TeamGateway;
  readonly #random: Random;
  readonly #journal: (server: string) => string;
  readonly #under = new Set<Promise<unknown>>();
  #generation = 0;
  /** The revision at which all was there. */
  #begun = 0;
  /** Answers that nothing explains. */
  readonly faults: unknown[] = [];
  /** How many were refused, as they met another one. */
  refused = 0;
  made = 0;

  constructor(gateway: TeamGateway, random: Random, journal: (server: string) => string) {
    this.#gateway = gateway;
    this.#random = random;
    this.#journal = journal;
  }

  async begin(): Promise<void> {
    for (const name of SERVERS) await this.#made("/mcp-servers", { name, ...this.#dial(name) });
    for (const name of NAMESPACES)
      await this.#made("/namespaces", { name, servers: SERVERS.map((server) => ({ server })) });
    for (const [n, name] of ENDPOINTS.entries())
      await this.#made("/endpoints", { name, ...this.#endpoint(n) });
    this.#begun = (await this.#gateway.api("GET", "/revisions?limit=1")).body.items[0].n - 1;
  }

  /** Begins one change. */
  step(): void {
    const change = this.#change()
      .catch((error) => this.faults.push(error))
      .finally(() => this.#under.delete(change));
    this.#under.add(change);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#under);
  }

  async #made(path: string, body: Body): Promise<void> {
    const { status, body: answer } = await this.#gateway.api("POST", path, body);
    expect(status, JSON.stringify(answer)).toBe(201);
  }

  #change(): Promise<void> {
    const random = this.#random;
    const dice = random.int(100);
    if (dice < 22) return this.#server(random.pick(SERVERS));
    if (dice < 62) return this.#patch(`/namespaces/${random.pick(NAMESPACES)}`, this.#rules());
    if (dice < 66) return this.#anew("/namespaces", random.pick(NAMESPACES), this.#members());
    if (dice < 70) return this.#back();
    const n = random.int(ENDPOINTS.length);
    const name = ENDPOINTS[n] as string;
    if (dice < 73 && !LASTING.includes(name)) return this.#anew("/endpoints", name, this.#endpoint(n));
    return this.#patch(`/endpoints/${name}`, this.#endpointChange(name));
  }

  #server(name: string): Promise<void> {
    const random = this.#random;
    const path = `/mcp-servers/${name}`;
    const dice = random.int(10);
    if (dice < 3) return this.#patch(path, this.#dial(name));
    if (dice < 5) return this.#patch(path, { disabled: random.chance(5) });
    if (dice < 9) return this.#patch(path, { description: `text ${random.int(1_000)}` });
    return this.#anew("/mcp-servers", name, this.#dial(name));
  }

  /** Flags that mean nothing to the server, but are another way to reach it. */
  #dial(server: string): Body {
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
      // Names of one another, all of them: none collides.
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
    const dice = LASTING.includes(name) ? 0 : random.int(8);
    if (dice === 7) return { surface: random.pick(SURFACES) };
    if (dice > 4) return { disabled: random.chance(4) };
    return { namespaces: NAMESPACES.filter(() => random.chance(2)) };
  }

  async #patch(path: string, body: Body): Promise<void> {
    this.#judge(await this.#gateway.api("PATCH", path, body), body);
  }

  async #anew(path: string, name: string, body: Body): Promise<void> {
    const force = path === "/endpoints" ? "" : "?force=true";
    this.#judge(await this.#gateway.api("DELETE", `${path}/${name}${force}`));
    this.#judge(await this.#gateway.api("POST", path, { name, ...body }), body);
  }

  /** To some moment of the last changes; what its endpoints were ends no session of a lasting one. */
  async #back(): Promise<void> {
    const { items } = (await this.#gateway.api("GET", "/revisions?limit=15")).body;
    const { n } = this.#random.pick((items as { n: number }[]).filter((one) => one.n > this.#begun));
    this.#judge(await this.#gateway.api("POST", `/revisions/${n}/rollback`));
  }

  /** Made as it was sent, or refused for what another change did meanwhile. */
  #judge({ status, body: answer }: Answer, sent?: Body): void {
    if (status < 300) {
      this.made += 1;
      const { server: object = answer } = answer ?? {};
      // References are answered as uuids.
      for (const [field, value] of Object.entries(sent ?? {}))
        if (typeof value !== "object") expect(object[field]).toBe(value);
    } else {
      expect([404, 409, 422], JSON.stringify(answer)).toContain(status);
      this.refused += 1;
    }
  }
}
