/** Lists prompts, resources and skills of a server, for clients on a surface that has only tools. */
import type { Item, ItemKind } from "../../catalog/item.ts";
import { joinArray } from "../../catalog/json-array.ts";
import { skillOf } from "../../catalog/skill.ts";
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import { addressOf } from "../aggregate/uris.ts";
import type { Input } from "../input.ts";
import { requireServer } from "../require-server.ts";
import type { ScopeCalls, ScopeCatalog, ScopeFacts } from "../scope.ts";
import { shownSkill } from "../skills.ts";
import type { ClientRequest } from "../surface.ts";
import { askServer } from "./ask-server.ts";
import { PROMPT } from "./tools.ts";

const SKILL_DESCRIPTION_LENGTH = 1_024;

export async function listResources(
  scope: ScopeCatalog & ScopeFacts,
  input: Input,
  request: ClientRequest,
  finder?: string,
): Promise<Raw> {
  const server = serverIn(scope, input, request.origin, finder);
  const [resources, templates, skills] = await Promise.all([
    itemsOf(scope, server, "resources", request),
    itemsOf(scope, server, "templates", request),
    itemsOf(scope, server, "skills", request),
  ]);
  for (const { name } of resources) scope.results.links.note(callerOf(request.origin), server, name);
  return textResult(
    joinObject([
      ["resources", joinArray(resources.map(({ definition }) => definition))],
      [
        "templates",
        templates.length > 0 ? joinArray(templates.map(({ definition }) => definition)) : undefined,
      ],
      ["skills", skills.length > 0 ? toRaw(skills.map(withFiles)) : undefined],
    ]),
  );
}

function withFiles(skill: Item) {
  const { files } = skillOf(skill);
  return {
    ...shownSkill(skill, SKILL_DESCRIPTION_LENGTH),
    files: files?.map(({ uri }) => addressOf(skill.server, uri)) ?? "dynamic",
  };
}

export async function listPrompts(
  scope: ScopeCatalog,
  input: Input,
  request: ClientRequest,
  finder?: string,
): Promise<Raw> {
  const server = serverIn(scope, input, request.origin, finder);
  const prompts = await itemsOf(scope, server, "prompts", request);
  return textResult(joinObject([["prompts", joinArray(prompts.map(({ definition }) => definition))]]));
}

/** Returns the server's answer as text. */
export async function getPrompt(
  scope: ScopeCatalog & ScopeCalls,
  input: Input,
  request: ClientRequest,
  finder?: string,
): Promise<Raw> {
  const server = serverIn(scope, input, request.origin, finder);
  const params = joinObject([
    ["name", input.get("name") as Raw],
    ["arguments", input.get("args") ?? EMPTY_OBJECT],
  ]);
  return textResult(
    await askServer(scope, { server, method: "prompts/get", params, tool: PROMPT.name }, request),
  );
}

function serverIn(scope: ScopeCatalog, input: Input, asker: Asker, finder: string | undefined): string {
  const server = fromRaw(input.get("server") as Raw) as string;
  requireServer(scope, server, asker, finder);
  return server;
}

/** Connects to the server if its items are not known. */
async function itemsOf(scope: ScopeCatalog, server: string, kind: ItemKind, { origin }: ClientRequest) {
  const [unknown] = await scope.loader.loadMissing([server], origin, undefined, kind);
  if (unknown)
    throw new MetaMcpError(
      "server_unavailable",
      `The ${kind} of ${server} are not known: ${unknown.reason}`,
      {
        server,
      },
    );
  return scope.view(origin).snapshot.listings.get(server)?.[kind] ?? [];
}

function textResult(value: Raw): Raw {
  return toRaw({ content: [{ type: "text", text: value.toString() }] });
}
