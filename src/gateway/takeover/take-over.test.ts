import { expect, test } from "vitest";
import { contextAt } from "../context.fixture.ts";
import { applyDocument } from "../document/apply.ts";
import { NO_OBJECTS } from "../objects.ts";
import type { ForeignRows } from "./rows.ts";
import { takeOver } from "./take-over.ts";

const NONE: ForeignRows = {
  mcp_servers: [],
  namespaces: [],
  endpoints: [],
  namespace_server_mappings: [],
  namespace_tool_mappings: [],
  tools: [],
  api_keys: [],
  oauth_sessions: [],
  users: [],
};
const KEY = `sk_mt_${"k".repeat(64)}`;

function taken(rows: Partial<ForeignRows>) {
  const result = takeOver({ ...NONE, ...rows });
  // The document must be valid.
  applyDocument(NO_OBJECTS, result.document, {}, contextAt(1));
  return result;
}

test("servers of each type are converted, and a bearer token becomes a header", () => {
  const { document, notes } = taken({
    mcp_servers: [
      {
        uuid: "1",
        name: "local",
        type: "STDIO",
        command: "npx",
        args: ["-y", "x"],
        env: { A: "1", N: 2, O: null },
      },
      { uuid: "2", name: "old", type: "SSE", url: "https://o.invalid/sse", bearer_token: "t" },
      {
        uuid: "3",
        name: "new",
        type: "STREAMABLE_HTTP",
        url: "https://n.invalid/mcp",
        bearer_token: "t",
        headers: { authorization: "own", X: "y" },
      },
      { uuid: "4", name: "empty", type: "STDIO" },
      { uuid: "5", name: "bad", type: "SSE", url: "nowhere" },
    ],
  });
  expect(document.servers).toEqual({
    local: { command: "npx", args: ["-y", "x"], env: { A: "1", N: "2" } },
    old: { type: "sse", url: "https://o.invalid/sse", headers: { Authorization: "Bearer t" } },
    new: { type: "http", url: "https://n.invalid/mcp", headers: { authorization: "own", X: "y" } },
  });
  expect(notes).toEqual([
    'server "empty" was skipped: it has no command',
    'server "bad" was skipped: it has no usable url',
  ]);
});

test("a duplicate server name gets a suffix and a note, and its tools keep their names", () => {
  const { document, notes } = taken({
    mcp_servers: [
      { uuid: "1", name: "git", type: "STDIO", command: "a" },
      { uuid: "2", name: "git", type: "STDIO", command: "b", user_id: "u" },
    ],
    namespaces: [
      { uuid: "n", name: "mine" },
      { uuid: "m", name: "Mine", user_id: "u" },
    ],
    namespace_server_mappings: [
      { namespace_uuid: "n", mcp_server_uuid: "2", status: "ACTIVE" },
      { namespace_uuid: "m", mcp_server_uuid: "1", status: "ACTIVE" },
      { namespace_uuid: "m", mcp_server_uuid: "2", status: "INACTIVE" },
    ],
  });
  expect(Object.keys(document.servers)).toEqual(["git", "git-2"]);
  expect(document.namespaces).toEqual({
    mine: { servers: { "git-2": { prefix: "git" } } },
    "Mine-2": { servers: { git: {}, "git-2": { disabled: true } } },
  });
  expect(notes).toEqual(['server "git" (2) is now "git-2"', 'namespace "Mine" (m) is now "Mine-2"']);
});

test("disabled and overridden tools are converted, and an impossible override gets a note", () => {
  const mapping = { namespace_uuid: "n", mcp_server_uuid: "1", status: "ACTIVE" };
  const { document, notes } = taken({
    mcp_servers: [{ uuid: "1", name: "git", type: "STDIO", command: "a" }],
    namespaces: [{ uuid: "n", name: "team" }],
    namespace_server_mappings: [mapping],
    tools: ["a", "b", "c", "d", "e", "f"].map((name) => ({ uuid: name, name, mcp_server_uuid: "1" })),
    namespace_tool_mappings: [
      { ...mapping, tool_uuid: "a", status: "INACTIVE" },
      {
        ...mapping,
        tool_uuid: "b",
        override_name: "better",
        override_title: "T",
        override_description: "D",
        override_annotations: { readOnlyHint: true, color: "red" },
      },
      { ...mapping, tool_uuid: "c" },
      { ...mapping, tool_uuid: "d", override_name: "c" },
      { ...mapping, tool_uuid: "e", override_name: "not legal" },
      // The name b is free, because the tool b has an override.
      { ...mapping, tool_uuid: "f", override_name: "b" },
    ],
  });
  expect(document.namespaces["team"]?.["tools"]).toEqual({
    "git:a": { disabled: true },
    "git:b": { name: "better", title: "T", description: "D", annotations: { readOnlyHint: true } },
    "git:f": { name: "b" },
  });
  expect(notes).toEqual([
    'namespace "team": "git:d" keeps its name: "c" is the name of another tool',
    'namespace "team": "git:e" keeps its name: "not legal" is not a valid name here',
  ]);
});

test("endpoints keep their address and access, and keys stay valid for the same endpoints", () => {
  const limits = {
    enable_max_rate: true,
    max_rate: 10,
    max_rate_seconds: 60,
    enable_client_max_rate: true,
  };
  const endpoint = { namespace_uuid: "n", enable_api_key_auth: true, enable_oauth: false };
  const { document, keys, notes } = taken({
    namespaces: [{ uuid: "n", name: "team" }],
    endpoints: [
      { ...endpoint, uuid: "1", name: "shared", use_query_param_auth: true, ...limits },
      { ...endpoint, uuid: "2", name: "open", enable_api_key_auth: false },
      { ...endpoint, uuid: "3", name: "private", enable_oauth: true, user_id: "u" },
      { ...endpoint, uuid: "4", name: "_bad" },
    ],
    api_keys: [
      { uuid: "k1", name: "public", key: KEY },
      { uuid: "k2", name: "own", key: `${KEY}x`, user_id: "u", is_active: true },
      { uuid: "k3", name: "off", key: `${KEY}y`, is_active: false },
      { uuid: "k4", name: "odd", key: "something" },
    ],
    users: [{ id: "u", email: "u@x.invalid" }],
  });
  const common = { namespaces: ["team"], surface: "aggregate" };
  expect(document.endpoints).toEqual({
    shared: {
      ...common,
      access: { keys: true, oauth: false, queryKey: true },
      middleware: [{ use: "rate-limit", requests: 10, per: "60s", by: "endpoint" }],
    },
    open: { ...common, access: { keys: false, oauth: false, public: true } },
    private: { ...common, access: { keys: true, oauth: true, allow: { users: ["u@x.invalid"] } } },
  });
  expect(keys).toEqual([
    { uuid: "k1", name: "public", key: KEY, endpoints: ["shared", "open"] },
    { uuid: "k2", name: "own", key: `${KEY}x`, endpoints: ["shared", "open", "private"] },
  ]);
  expect(notes).toEqual([
    'endpoint "_bad" was skipped: its name is not valid in an address',
    'endpoint "shared" had a rate limit per client, which was not imported: add the layer rate-limit',
    "1 accounts were not imported, because passwords cannot be copied",
    'key "off" was skipped: it was disabled',
    'key "odd" was skipped: it is not of the form sk_mt_…',
  ]);
});
