/** A gateway with one server of the fixture, and an endpoint for each surface, in one namespace. */
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { fixture, type Temp, temp } from "./temp.ts";

export interface LayeredTeam {
  readonly gateway: TeamGateway;
  readonly api: TeamGateway["api"];
  readonly key: string;
  readonly journal: ReturnType<Temp["journal"]>;
  /** Calls of this tool that reached the server. */
  reached(tool: string): number;
}

export const SURFACES = ["meta", "metatools", "aggregate"] as const;

export interface LayeredOptions {
  /** Beside the entry of the server. */
  readonly server?: object;
  readonly namespace?: object;
  readonly endpoint?: object;
  readonly flags?: readonly string[];
  readonly folder?: Temp;
}

export async function layeredTeam(options: LayeredOptions = {}): Promise<LayeredTeam> {
  const { server = {}, namespace = {}, endpoint = {}, flags = [], folder = temp() } = options;
  const journal = folder.journal();
  const gateway = await teamGateway(folder, { flags });
  const { api } = gateway;
  const made = [
    await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file), ...server }),
    await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }], ...namespace }),
  ];
  for (const surface of SURFACES)
    made.push(await api("POST", "/endpoints", { name: surface, namespaces: ["team"], surface, ...endpoint }));
  for (const { status, body } of made)
    if (status !== 201) throw new Error(`a part of the team was refused: ${JSON.stringify(body)}`);
  return {
    gateway,
    api,
    key: await gateway.key(),
    journal,
    reached: (tool) => journal.events("message").filter((event) => event.tool === tool).length,
  };
}
