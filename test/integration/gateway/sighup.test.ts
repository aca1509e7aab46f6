/** SIGHUP and replaced files: certificate and log file are opened again while the process serves on. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { httpGateway } from "../../support/http-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** Writes a certificate with this name over the one in use. */
function certify(folder: Temp, name: string): void {
  const made = ["cert", "key"].map((what) => folder.path(`${name}-${what}.pem`));
  const [cert = "", key = ""] = made;
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", key, "-out", cert, "-subj", `/CN=${name}`, "-days", "2"];
  execFileSync("openssl", [...args, ...files], { stdio: "ignore" });
  renameSync(cert, folder.path("cert.pem"));
  renameSync(key, folder.path("key.pem"));
}

const tlsFlags = (folder: Temp): string[] => [
  "--tls",
  "--tls-cert",
  folder.path("cert.pem"),
  "--tls-key",
  folder.path("key.pem"),
];

/** The name in the certificate that the server shows. */
async function shownBy(url: string): Promise<unknown> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("a gateway takes a new certificate and reopens its log at SIGHUP, and keeps the old one if the new is broken", async () => {
  const folder = temp();
  certify(folder, "one");
  const log = folder.path("log");
  const gateway = await teamProcess(folder, { flags: [...tlsFlags(folder), "--log-file", log] });
  expect(await shownBy(gateway.url)).toBe("one");
  writeFileSync(folder.path("cert.pem"), "broken");
  process.kill(gateway.pid, "SIGHUP");
  await until(() => /"error".*the old one stays in use: .*cert\.pem/.test(readFileSync(log, "utf8")));
  expect(await shownBy(gateway.url)).toBe("one");
  certify(folder, "two");
  renameSync(log, `${log}.1`);
  process.kill(gateway.pid, "SIGHUP");
  await until(async () => (await shownBy(gateway.url)) === "two");
  await until(() => existsSync(log) && /certificate was read again/.test(readFileSync(log, "utf8")));
});

test("personal mode over HTTP notices a new certificate itself, and SIGHUP does not end it", async () => {
  const folder = temp();
  certify(folder, "one");
  const gateway = await httpGateway(folder, ...tlsFlags(folder));
  expect(await shownBy(gateway.url)).toBe("one");
  process.kill(gateway.pid, "SIGHUP");
  certify(folder, "two");
  await until(async () => (await shownBy(gateway.url)) === "two");
});
