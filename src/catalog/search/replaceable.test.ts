import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { readTool } from "../read-tool.ts";
import type { Tool } from "../tool.ts";
import { ReplaceableSearch } from "./replaceable.ts";
import { createSearch } from "./search.ts";
import { searchContract } from "./strategy.contract.ts";

searchContract("a replaceable search", () => new ReplaceableSearch(createSearch()));

const tool = (name: string): Tool => readTool("s", toRaw({ name, description: `Does ${name}.` })) as Tool;

test("a new strategy gets the tools of all current servers and none of removed ones", async () => {
  const search = new ReplaceableSearch(createSearch());
  search.update("kept", [tool("paint_walls")]);
  search.update("gone", [tool("paint_doors")]);
  search.remove("gone");
  search.replace(createSearch());
  const hits = await search.search("paint", { limit: 5 });
  expect(hits.map(({ server, name }) => [server, name])).toEqual([["kept", "paint_walls"]]);
});
