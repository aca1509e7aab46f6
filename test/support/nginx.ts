/** A real nginx with its own folder and a free port, in front of a gateway. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";
import { atEnd } from "./shared.ts";
import { ROOT, type Temp } from "./temp.ts";
import { until } from "./until.ts";

const program = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
  .map((folder) => join(folder, "nginx"))
  .find(existsSync);
/** The reason if nginx cannot be started. */
export const noNginx: string | undefined = program === undefined ? "nginx was not found" : undefined;

/** The name in the documentation, its certificate and the public URL. */
export const PUBLIC_NAME = "mcp.example.org";

export interface Front {
  readonly port: number;
  /** The certificate, for clients. */
  readonly ca: string;
  readonly publicUrl: string;
  /** `more` has directives for the level of `http`. Call inside a test; nginx ends with it. */
  start(upstream: string, more?: string): Promise<void>;
}

/** Chooses the port and makes the certificate, so that the gateway can be told its public URL. */
export async function nginxFront(folder: Temp): Promise<Front> {
  const port = await freePort();
  const home = folder.path("nginx");
  mkdirSync(home);
  const [cert, key] = [join(home, "cert.pem"), join(home, "key.pem")];
  const kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", `/CN=${PUBLIC_NAME}`, "-addext", `subjectAltName=DNS:${PUBLIC_NAME}`];
  const args = [...kind, ...names, "-days", "2", "-keyout", key, "-out", cert];
  execFileSync("openssl", args, { stdio: "ignore" });
  return {
    port,
    ca: readFileSync(cert, "utf8"),
    publicUrl: `https://${PUBLIC_NAME}:${port}`,
    async start(upstream, more = "") {
      const server = documentedServer()
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace("/etc/ssl/mcp.example.org.pem", cert)
        .replace("/etc/ssl/mcp.example.org.key", key)
        .replace("http://127.0.0.1:12008", upstream);
      const file = join(home, "nginx.conf");
      writeFileSync(file, configOf(home, `${more}\n${server}`));
      await run(file, home, port);
    },
  };
}

/** The `server` block of docs/proxies.md. */
function documentedServer(): string {
  const page = readFileSync(join(ROOT, "docs/proxies.md"), "utf8");
  return /```nginx\n(server \{.*?\n\})\n```/s.exec(page)?.[1] ?? "";
}

function configOf(home: string, http: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(home, kind)};`)
    .join("\n");
  // The folder of a test is readable only for the user that runs it.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `${user}\ndaemon off;\nworker_processes 1;\npid ${join(home, "pid")};\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${http}\n}\n`;
}

async function run(file: string, home: string, port: number): Promise<void> {
  const child = spawn(program ?? "nginx", ["-e", "stderr", "-p", home, "-c", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
  atEnd(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${stderr}`);
      return await accepts(port);
    },
    { what: "nginx" },
  );
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
