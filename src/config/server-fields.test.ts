import { expect, test } from "vitest";
import { checkServer } from "./server.ts";
import type { ServerField } from "./server-field.ts";
import { fieldsWhere, SERVER_FIELDS } from "./server-fields.ts";

const HERE = { path: "/p/.mcp.json", folder: "/p", env: {} };

function specOf(entry: object) {
  const { result } = checkServer("a", entry, HERE);
  return result !== "disabled" && "spec" in result ? (result.spec as object) : {};
}

test("a spec has every field that decides about connections, except the type, which is its kind", () => {
  const kinds = [
    { command: "x", sandbox: true },
    { url: "https://e.example" },
    { openapi: "https://e.example/openapi.json" },
  ];
  const spec = Object.assign({}, ...kinds.map(specOf)) as object;
  const dialed = fieldsWhere(({ effect }) => effect === "runs" || effect === "dials");
  for (const name of dialed) expect(spec).toHaveProperty(name === "type" ? "kind" : name);
});

test("a field with a preset has it without an entry, and its words are those of its labels", () => {
  const spec = { ...specOf({ url: "https://e.example" }), ...specOf({ command: "x" }) };
  for (const name of fieldsWhere(({ preset }) => preset !== undefined)) {
    const { preset, schema, labels }: ServerField = SERVER_FIELDS[name];
    expect(spec).toHaveProperty(name, preset);
    if (schema["enum"]) expect(Object.keys(labels ?? {})).toEqual(schema["enum"]);
  }
});
