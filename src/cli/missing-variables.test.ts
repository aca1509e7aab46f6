import { expect, test } from "vitest";
import { specOf } from "../../test/support/scripted-server.ts";
import type { StdioSpec } from "../config/spec.ts";
import { secretsFrom } from "../kernel/secret.ts";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import { bareEnvironment, unsetVariables, variableAdvice } from "./missing-variables.ts";

const spec = (more: Partial<StdioSpec> = {}): StdioSpec => specOf("x", more) as StdioSpec;
const env = { PATH: "/bin", HOME: "/home/u", FOO_KEY: "secret", KUBECONFIG: "/k" };

test("a variable in the output that is set here and not passed is named with the line to add", () => {
  const advice = (output: string, more?: Partial<StdioSpec>) =>
    variableAdvice(spec(more), { output, env, known: [] });
  expect(advice("Error: API key FOO_KEY is missing")).toEqual([
    'FOO_KEY is set here, but the server does not get it. Add to its entry: "inheritEnv": ["FOO_KEY"]',
  ]);
  const [named] = advice("API key is missing", { args: ["-c", 'serve "$FOO_KEY" ${BAR_KEY} KUBECONFIG'] });
  expect(named).toContain('"inheritEnv": ["FOO_KEY"]');
  expect(advice("no KUBECONFIG", { inheritEnv: ["OTHER"] })[0]).toContain(
    '"inheritEnv": ["OTHER","KUBECONFIG"]',
  );
  expect(advice("HOME is /home/u, BAR_KEY is missing, ENOENT")).toEqual([]);
  expect(advice("FOO_KEY", { env: secretsFrom({ FOO_KEY: "x" }) })).toEqual([]);
  expect(advice("FOO_KEY", { inheritEnv: true })).toEqual([]);
});

test("a variable that the gallery requires for the same package is named, whatever the output says", async () => {
  const known = await galleryCandidates();
  const gitlab = spec({ command: "npx", args: ["-y", "@zereight/mcp-gitlab@2.0.0"] });
  expect(variableAdvice(gitlab, { output: "", env, known })).toEqual([
    'It needs GITLAB_PERSONAL_ACCESS_TOKEN. Add to its entry: "env": { "GITLAB_PERSONAL_ACCESS_TOKEN": "…" }',
  ]);
  const set = { ...env, GITLAB_PERSONAL_ACCESS_TOKEN: "t" };
  expect(variableAdvice(gitlab, { output: "", env: set, known })[0]).toContain(
    '"inheritEnv": ["GITLAB_PERSONAL_ACCESS_TOKEN"]',
  );
});

test("the command to run by hand has exactly the variables that the server gets, and no values", () => {
  const own = spec({ env: secretsFrom({ TOKEN: "hush" }), inheritEnv: ["KUBECONFIG"] });
  expect(bareEnvironment(own, env)).toBe('env -i PATH="$PATH" HOME="$HOME" KUBECONFIG="$KUBECONFIG" TOKEN=…');
});

test("an entry of a client names what the gallery requires and the entry does not set", async () => {
  const known = await galleryCandidates();
  const name = "GITLAB_PERSONAL_ACCESS_TOKEN";
  const gitlab = { command: "npx", args: ["-y", "@zereight/mcp-gitlab@2.0.0"] };
  const unset = (more: object) => unsetVariables({ ...gitlab, ...more }, known);
  expect(unset({})).toEqual([name]);
  expect(unset({ env: { [name]: "t" } })).toEqual([]);
  expect(unset({ inheritEnv: [name] })).toEqual([]);
  expect(unset({ inheritEnv: true })).toEqual([]);
  expect(unset({ args: [...gitlab.args, "-e", name] })).toEqual([]);
  expect(unset({ args: undefined })).toEqual([]);
});
