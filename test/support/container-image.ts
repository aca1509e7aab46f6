/**
 * An image with node and perl for each container engine of this machine, made from the programs of this machine,
 * because a test asks no registry. It stays in the engine. METAMCP_TEST_IMAGE names another one.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type EngineName, engineEnvironment } from "../../src/config/container-engine.ts";
import { toolPath } from "../../src/config/tool-path.ts";

export interface TestEngine {
  readonly name: EngineName;
  /** An image that no other engine has, so that servers in it run in this one. */
  readonly image: string;
  /** Runs a command of the engine. Throws with what it complains about. */
  readonly run: (...args: readonly string[]) => string;
  /** Why it runs no container here. */
  readonly whyNot: string | undefined;
}

export function testEngines(): readonly TestEngine[] {
  if (process.platform !== "linux") return [];
  return (["docker", "podman"] as const).flatMap((name) => {
    const path = toolPath(name);
    return path === undefined ? [] : [testEngine(name, path)];
  });
}

function testEngine(name: EngineName, path: string): TestEngine {
  const run = (...args: readonly string[]): string =>
    execFileSync(path, args, {
      env: engineEnvironment(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const image = process.env["METAMCP_TEST_IMAGE"] ?? `metamcp-test-${name}:${process.versions.node}`;
  const start = (): void =>
    void run("run", "--rm", "--init", "--pull=never", "--network=none", image, "node", "-e", "0");
  try {
    run("image", "ls", "-q");
    if (!isKnown(image, run)) build(image, run);
    start();
    return { name, image, run, whyNot: undefined };
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    return { name, image, run, whyNot: `${name}: ${(stderr || message).trim().split("\n").at(-1)}` };
  }
}

function isKnown(image: string, run: TestEngine["run"]): boolean {
  try {
    run("image", "inspect", image);
    return true;
  } catch {
    return false;
  }
}

function build(image: string, run: TestEngine["run"]): void {
  const folder = mkdtempSync(join(tmpdir(), "metamcp-image-"));
  try {
    const root = join(folder, "root");
    const put = (from: string, to = from): void => {
      mkdirSync(dirname(join(root, to)), { recursive: true });
      cpSync(from, join(root, to), { dereference: true });
    };
    put(process.execPath, "/usr/bin/node");
    const loaded = "print qq($^X\\n), map { qq($_\\n) } values %INC, @DynaLoader::dl_shared_objects";
    const perl = lines("perl", "-MSocket", "-MFcntl", "-MErrno", "-e", loaded);
    for (const path of perl) put(path);
    const binaries = [process.execPath, ...perl.filter((path) => !path.endsWith(".pm"))];
    const libraries = binaries.flatMap((path) =>
      lines("ldd", path).map((line) => /(?:^|\s)(\/\S+) \(0x/.exec(line)?.[1]),
    );
    for (const path of new Set(libraries)) if (path !== undefined) put(path);
    const tar = join(folder, "image.tar");
    execFileSync("tar", ["-C", root, "-cf", tar, "."]);
    run("import", tar, image);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function lines(command: string, ...args: readonly string[]): readonly string[] {
  return execFileSync(command, args, { encoding: "utf8" }).trim().split("\n");
}
