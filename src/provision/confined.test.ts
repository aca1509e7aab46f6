import { expect, test } from "vitest";
import { confined } from "./confined.ts";

const WHERE = { folder: "/", env: {}, cannotConfine: () => undefined };
const server = { command: "npx", args: ["-y", "x@1.0.0"] };

test("a new local server is confined where that is possible, else the reason is said", () => {
  expect(confined(server, WHERE)).toEqual({ entry: { ...server, sandbox: true } });
  const away = { ...WHERE, cannotConfine: () => "there is no bubblewrap" };
  expect(confined({ ...server, sandbox: { network: "none" } }, away)).toEqual({
    entry: server,
    unconfined: "there is no bubblewrap",
  });
  expect(confined({ command: "docker", args: ["run", "x"] }, WHERE).unconfined).toContain("containers");
  const remote = { type: "http", url: "https://a.example/" } as const;
  expect(confined(remote, WHERE)).toEqual({ entry: remote });
});

test("where a sandbox is set for all servers, a new one has none of its own, which could be wider", () => {
  for (const sandbox of [{ default: { network: "none" } }, { floor: true }])
    expect(confined({ ...server, sandbox: { network: "none" } }, { ...WHERE, sandbox })).toEqual({
      entry: server,
    });
  expect(confined(server, { ...WHERE, sandbox: {} }).entry).toHaveProperty("sandbox", true);
});

test("an entry that was confined already stays as it is", () => {
  const { entry } = confined({ ...server, sandbox: { network: "none" } }, WHERE);
  expect(confined(entry, WHERE)).toEqual({ entry });
});

test("a registry does not choose which places its server may touch", () => {
  const named = { command: "npx", args: ["-y", "x@1.0.0", "/usr", "${SECRETS_FOLDER}"] };
  expect(confined(named, WHERE).entry).toHaveProperty("sandbox.write", ["/usr", "${SECRETS_FOLDER}"]);
  expect(confined(named, { ...WHERE, foreign: true }).entry).toHaveProperty("sandbox", true);
});
