/** The files of the console as a gateway serves them. */
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/kernel/log.ts";
import { ConsoleFiles } from "../../../src/serving/site/console-files.ts";
import { metamcp } from "../../support/command.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { ROOT, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const FOLDER = join(ROOT, "dist/console");
const SCRIPT = readdirSync(join(FOLDER, "assets")).find((name) => /^console-.*\.js$/.test(name)) ?? "";

/** The Accept header of a browser that opens an address. */
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("every page address serves the same page, with a strict content security policy", async () => {
  const { url } = await teamGateway(temp());
  const page = readFileSync(join(FOLDER, "index.html"), "utf8");
  for (const path of ["/", "/servers", "/servers/some-uuid", "/setup?code=x", "/mistyped", "/a/b/c"]) {
    const answer = await fetch(url + path, { headers: BROWSER });
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, page]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
  }
  // A program that requests an unknown address gets 404, not the page.
  for (const [path, init] of [
    ["/assets/nothing.js", { headers: BROWSER }],
    ["/servers", { headers: BROWSER, method: "POST" }],
    ["/servers", {}],
    ["/register", {}],
  ] as const)
    expect([path, (await fetch(url + path, init)).status]).toEqual([path, 404]);
  expect((await fetch(`${url}/`, { method: "POST" })).status).toBe(405);
  // Routes of the API and of OAuth take precedence.
  expect((await fetch(`${url}/mcp-servers/x`)).status).toBe(401);
});

test("assets are cached without expiry and sent in the smallest accepted encoding", async () => {
  const { url } = await teamGateway(temp());
  const path = `/assets/${SCRIPT}`;
  const plain = readFileSync(join(FOLDER, path));
  const sizes: number[] = [];
  for (const accepts of ["br, gzip", "gzip;q=0.8, br;q=0", "identity", "deflate"]) {
    const { headers, body } = await raw(url + path, { "accept-encoding": accepts });
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    const encoding = headers["content-encoding"];
    const file = { br: ".br", gzip: ".gz", plain: "" }[encoding ?? "plain"];
    expect(body.equals(readFileSync(join(FOLDER, path) + file))).toBe(true);
    sizes.push(body.length);
  }
  expect(sizes[0]).toBeLessThan(sizes[1] as number);
  expect(sizes.slice(2)).toEqual([plain.length, plain.length]);
});

test("an unchanged page is answered with 304, and HEAD without a body", async () => {
  const { url } = await teamGateway(temp());
  const first = await raw(`${url}/`);
  const again = await raw(`${url}/`, { "if-none-match": first.headers.etag ?? "" });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  const head = await fetch(`${url}/`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("--no-console removes the console", async () => {
  const folder = temp();
  const { url, api } = await teamGateway(folder, { flags: ["--no-console"] });
  for (const path of ["/", "/servers", `/assets/${SCRIPT}`])
    expect((await fetch(url + path)).status).toBe(404);
  expect((await api("GET", "/me")).status).toBe(200);
  const { code, err } = await metamcp(folder, ["serve", "--no-console", "--open"]);
  expect([code, err]).toEqual([2, expect.stringContaining("--no-console")]);
});

test("files that cannot be read are read again at the next request, and the log says once why", async () => {
  const folder = temp();
  const place = folder.path("console");
  const { url, warnings } = await served([folder.path("missing"), place]);
  const fault = async (expected: string): Promise<void> => {
    for (const path of ["/", "/", `/assets/${SCRIPT}`]) {
      const answer = await fetch(url + path);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([503, "no-store"]);
      expect(await answer.text()).toContain("log");
    }
    expect(warnings.splice(0)).toEqual([expect.stringContaining(expected)]);
  };
  await fault("no console in");
  // Not a folder.
  folder.write("console", "");
  await fault("ENOTDIR");
  rmSync(place);
  cpSync(FOLDER, place, { recursive: true });
  rmSync(join(place, "index.html.br"));
  await fault("index.html.br");
  cpSync(FOLDER, place, { recursive: true });
  for (const path of ["/", `/assets/${SCRIPT}`]) expect((await fetch(url + path)).status).toBe(200);
  expect(warnings).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "--open opens the console in the browser, with the setup link at the first start",
  async () => {
    const folder = temp();
    const opener = folder.write("xdg-open", `#!/bin/sh\nprintf %s "$1" > "${folder.path("opened")}"\n`);
    chmodSync(opener, 0o755);
    const { stderr } = await teamProcess(folder, {
      flags: ["--open"],
      env: { METAMCP_ADMIN_TOKEN: "", DISPLAY: ":99", PATH: `${dirname(opener)}:${process.env["PATH"]}` },
    });
    // The shell creates the file before it writes to it.
    const opened = await until(
      () => (existsSync(folder.path("opened")) && readFileSync(folder.path("opened"), "utf8")) || undefined,
      { what: "the browser" },
    );
    expect(opened).toMatch(/\/setup\?code=[\w-]+$/);
    expect(stderr).toContain(opened);
  },
);

/** The files of these folders, served without a gateway. */
async function served(folders: readonly string[]) {
  const warnings: string[] = [];
  const files = new ConsoleFiles({ ...silentLog, warn: (message) => warnings.push(message) }, folders);
  const server = createServer((asked, response) => void files.answer(asked.url ?? "", asked, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, warnings };
}

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** The bytes as sent, because `fetch` would decompress them. */
function raw(url: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          headers: response.headers as RawAnswer["headers"],
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.once("error", reject).end();
  });
}
