/** A gateway with one fixture server in one namespace, and an endpoint for each surface. */
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { fixture, type Temp, temp } from "./temp.ts";

export interface LayeredTeam<G extends TeamGateway = TeamGateway> {
  readonly gateway: G;
  readonly api: TeamGateway["api"];
  readonly key: string;
  readonly journal: ReturnType<Temp["journal"]>;
  /** Number of calls of this tool that reached the server. */
  reached(tool: string): number;
}

export const SURFACES = ["meta", "metatools", "aggregate"] as const;

export interface LayeredOptions {
  /** Additional fields of the server. */
  readonly server?: object;
  readonly namespace?: object;
  readonly endpoint?: object;
  readonly flags?: readonly string[];
  readonly folder?: Temp;
}

export async function layeredTeam(options: LayeredOptions = {}): Promise<LayeredTeam> {
  const { flags = [], folder = temp() } = options;
  return await layersOn(await teamGateway(folder, { flags }), { ...options, folder });
}

/** The same on a gateway that is given. */
export async function layersOn<G extends TeamGateway>(
  gateway: G,
  { server = {}, namespace = {}, endpoint = {}, folder = temp() }: Omit<LayeredOptions, "flags"> = {},
): Promise<LayeredTeam<G>> {
  const journal = folder.journal();
  const { api } = gateway;
  const created = [
    await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file), ...server }),
    await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }], ...namespace }),
  ];
  for (const surface of SURFACES)
    created.push(
      await api("POST", "/endpoints", { name: surface, namespaces: ["team"], surface, ...endpoint }),
    );
  for (const { status, body } of created)
    if (status !== 201) throw new Error(`a part of the team was refused: ${JSON.stringify(body)}`);
  return {
    gateway,
    api,
    key: await gateway.key(),
    journal,
    reached: (tool) => journal.events("message").filter((event) => event.tool === tool).length,
  };
}
