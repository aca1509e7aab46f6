// Replicas on one Postgres schema behind the balancer, which a run kills, restarts and stops.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { countingPostgres } from "../gateway/postgres.mjs";
import { node, root, startGateway } from "../gateway/serve.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { Balancer } from "./balancer.mjs";

export const CHILD = join(root, "bench/replicas/child.mjs");
/** Calls are answered only when the log has them. */
export const REQUIRED = { use: "audit", arguments: "full", required: true };
export const SURFACES = ["aggregate", "meta", "metatools", "auto"];

export class Team {
  #flags;
  #counted;
  #database;
  #journal;
  #members = new Map();
  balancer = new Balancer();

  /** `counted`: `statements` gets what they send to Postgres, which costs time in this process. */
  constructor({ flags = [], journal = fresh("journal"), counted = false } = {}) {
    this.#flags = flags;
    this.#counted = counted;
    this.#journal = journal;
  }

  /** A gateway with these flags alone differs from a replica by nothing but the others. */
  get commonFlags() {
    return ["--public-url", this.balancer.url, "--log-level", "error"];
  }

  get members() {
    return [...this.#members.values()];
  }
  get names() {
    return [...this.#members.keys()];
  }
  get statements() {
    return this.#database.statements;
  }

  /**
   * Starts the replicas. The first one gets the config; default: an endpoint with each surface. `from`: the
   * folder of an older program to start instead, which knows no replicas.
   */
  async open(count, { checked = false, middleware = [], document = this.#document(middleware), from } = {}) {
    this.#database = await countingPostgres();
    await this.balancer.listen({ checked });
    for (let n = 0; n < count; n++)
      await this.start(`r${n}`, { ...(n === 0 && { document }), ...(from && { dist: from }) });
    return this;
  }

  #document(middleware) {
    const servers = { journal: { command: node, args: [CHILD, this.#journal] } };
    const namespaces = { n: { servers: { journal: {} } } };
    const endpoint = (surface) => ({ namespaces: ["n"], surface, middleware });
    const endpoints = Object.fromEntries(SURFACES.map((surface) => [surface, endpoint(surface)]));
    return { servers, namespaces, endpoints };
  }

  async start(name, more = {}) {
    const gateway = await startGateway(name, {
      store: this.#counted ? this.#database.store : this.#database.direct,
      flags: [
        ...(more.dist ? [] : ["--replica-address", "127.0.0.1:0"]),
        ...this.commonFlags,
        ...this.#flags,
      ],
      ...more,
    });
    this.#members.set(name, gateway);
    this.balancer.set(name, gateway.base);
    return gateway;
  }

  /** Starts more replicas, all at one moment. */
  async add(count) {
    const names = Array.from({ length: count }, (_, n) => `r${this.#members.size + n}`);
    await Promise.all(names.map((name) => this.start(name)));
  }

  /** How many connections the replicas have to Postgres. */
  get connections() {
    return this.#database.connections();
  }

  /** As a supervisor does after kill -9: the same replica is started at once, at another address. */
  async kill(name) {
    await this.#members.get(name).kill();
    await this.start(name).catch(() => this.start(name));
  }

  /** Stops a replica as an update does, and starts it again. */
  async restart(name) {
    await this.#members.get(name).stop(60_000);
    await this.start(name);
  }

  /** Resolves when all replicas answer an `initialize` of this endpoint with these credentials. */
  async inStep(endpoint, credentials) {
    for (const member of this.members) await member.retry(() => member.openAt(endpoint, credentials));
  }

  /** The lines that the servers wrote. */
  get journal() {
    return readFileSync(this.#journal, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  async close() {
    await Promise.all(this.members.map((member) => member.stop()));
    this.balancer.close();
    await this.#database.drop();
  }
}
