/** Attempts of a confined server to reach what its `sandbox` does not name. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { confined, WHY_NOT } from "../support/confined.ts";
import { shared } from "../support/shared.ts";
import { until } from "../support/until.ts";

describe.skipIf(WHY_NOT !== undefined)(`a confined server${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`, () => {
  const one = shared(() => confined((folder) => ({ folder: folder.path("."), network: "none" })));
  const read = async (path: string) =>
    await one().inside("return (await load('fs')).readdirSync(given).length", path);
  const readFile = async (path: string) =>
    await one().inside("return (await load('fs')).readFileSync(given, 'utf8').length", path);
  const write = async (path: string) =>
    await one().inside("(await load('fs')).writeFileSync(given, 'x'); return 'written'", path);

  test("writes to its own folder, its home and temporary files", async () => {
    const { folder, inside } = one();
    expect(await write(folder.path("own"))).toBe("written");
    expect(readFileSync(folder.path("own"), "utf8")).toBe("x");
    expect(await write("/tmp/x")).toBe("written");
    expect(existsSync("/tmp/x")).toBe(false);
    const home = String(await inside("return process.env.HOME"));
    expect(home.startsWith(join(folder.home, "servers"))).toBe(true);
    expect(await write(join(home, "x"))).toBe("written");
  });

  test("sees no home folder, no files of MetaMCP and no secrets of the system", async () => {
    const { folder } = one();
    writeFileSync(join(folder.home, "mcp.json"), "secret");
    expect(await readFile(join(folder.home, "mcp.json"))).toEqual({ error: "ENOENT" });
    expect(await read(join(folder.home, "servers"))).toBe(1);
    for (const path of [homedir(), join(homedir(), ".ssh"), "/root", "/home", "/run/secrets", "/var/run"])
      expect(await read(path), path).toEqual({ error: "ENOENT" });
    for (const path of [
      "/etc/shadow",
      "/etc/sudoers",
      "/etc/gshadow",
      "/var/run/docker.sock",
      "/run/docker.sock",
    ])
      expect(await readFile(path), path).toEqual({ error: "ENOENT" });
    expect(await read("/tmp")).toBeTypeOf("number");
    expect(await read("/tmp/.X11-unix")).toEqual({ error: "ENOENT" });
  });

  test("writes nowhere else, not even into memory beside its limits", async () => {
    for (const path of [
      "/x",
      "/usr/x",
      "/etc/x",
      "/dev/x",
      "/proc/sys/kernel/hostname",
      "/proc/sys/vm/swappiness",
      "/proc/irq/default_smp_affinity",
      "/proc/sysrq-trigger",
    ])
      expect(await write(path), path).toEqual({ error: expect.stringMatching(/EROFS|EACCES|EPERM|ENOENT/) });
  });

  test("a link out of its folder leads nowhere", async () => {
    const { folder } = one();
    const secret = join(folder.folder, "outside");
    writeFileSync(secret, "secret");
    symlinkSync(secret, folder.path("link"));
    symlinkSync("/", folder.path("root"));
    expect(await readFile(folder.path("link"))).toEqual({ error: "ENOENT" });
    expect(await readFile(folder.path(`root${secret}`))).toEqual({ error: "ENOENT" });
    expect(await readFile(`/proc/self/root${secret}`)).toEqual({ error: "ENOENT" });
    expect(await readFile(`/proc/1/root${secret}`)).toEqual({
      error: expect.stringMatching(/ENOENT|EACCES/),
    });
  });

  test("sees no process of others, and can neither signal nor trace them", async () => {
    const outside = spawn("sleep", ["60"]);
    onTestFinished(() => void outside.kill("SIGKILL"));
    const seen = await one().inside(
      "return (await load('fs')).readdirSync('/proc').filter((one) => /^\\d+$/.test(one)).length",
    );
    expect(seen).toBeLessThan(6);
    for (const pid of [outside.pid, process.pid]) {
      const killed = await one().inside("process.kill(given, 'SIGKILL'); return 'killed'", pid);
      expect(killed).toEqual({ error: "ESRCH" });
    }
    expect(await one().inside("process.kill(-1, 0); return 'all'")).toBeDefined();
    expect(outside.exitCode).toBe(null);
    const environment = await one().inside(
      "const fs = await load('fs'); return fs.readdirSync('/proc').filter((one) => /^\\d+$/.test(one)).map((pid) => { try { return fs.readFileSync(`/proc/${pid}/environ`, 'utf8'); } catch { return ''; } }).join()",
    );
    expect(environment).not.toContain("VITEST");
    expect(await one().inside("return (await load('fs')).readFileSync('/proc/1/mem')")).toEqual({
      error: expect.stringMatching(/EACCES|EIO|EPERM/),
    });
  });

  test("has no rights to gain: no capabilities, no setuid programs, no new file systems, no devices", async () => {
    const status = String(
      await one().inside("return (await load('fs')).readFileSync('/proc/self/status', 'utf8')"),
    );
    expect(status).toMatch(/NoNewPrivs:\t1/);
    expect(status).toMatch(/CapBnd:\t0+\n/);
    const run = async (...words: readonly string[]) =>
      await one().inside(
        "const { spawnSync } = await load('child_process'); const { status } = spawnSync(given[0], given.slice(1)); return status",
        words,
      );
    expect(await run("mount", "-t", "tmpfs", "x", "/tmp")).not.toBe(0);
    expect(await run("umount", "/proc")).not.toBe(0);
    expect(await run("chroot", "/", "true")).not.toBe(0);
    expect(await run("mknod", "/tmp/disk", "b", "8", "0")).not.toBe(0);
    expect(await run("nsenter", "-t", "1", "-m", "true")).not.toBe(0);
    const program = "import fcntl, termios, sys\nfcntl.ioctl(open('/dev/tty'), termios.TIOCSTI, b'x')";
    expect(await run("python3", "-c", program)).not.toBe(0);
    // The program that confines it is not there to be changed for the next start.
    expect(await write("/proc/self/exe")).toEqual({
      error: expect.stringMatching(/ETXTBSY|EROFS|EACCES|EPERM/),
    });
    expect(await write("/usr/bin/bwrap")).toEqual({ error: expect.stringMatching(/EROFS|EACCES/) });
  });

  test("without a network it reaches no address, no name, and no socket of this machine", async () => {
    const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
    const name = `\0metamcp-test-${process.pid}`;
    const abstract = spawn(
      "perl",
      [
        "-MSocket",
        "-e",
        "socket(S,PF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un($ARGV[0])) or die; listen(S,1); print qq(up\\n); $|=1; close STDOUT; sleep 60",
        `@${name.slice(1)}`,
      ].map((one) => one.replace("$ARGV[0])", "qq(\\0).substr($ARGV[0],1))")),
    );
    onTestFinished(() => {
      server.close();
      abstract.kill("SIGKILL");
    });
    await until(() => server.listening, { what: "a server" });
    const connect = async (to: unknown) =>
      await one().inside(
        "const net = await load('net'); return await new Promise((done, failed) => net.connect(given).on('connect', () => done('connected')).on('error', failed))",
        to,
      );
    const { port } = server.address() as { port: number };
    expect(await connect({ port, host: "127.0.0.1" })).toEqual({ error: "ECONNREFUSED" });
    expect(await connect({ port: 80, host: "192.0.2.1" })).toEqual({
      error: expect.stringMatching(/ENETUNREACH|EADDRNOTAVAIL/),
    });
    expect(await connect({ path: name })).toEqual({
      error: expect.stringMatching(/ECONNREFUSED|ENOENT|EINVAL/),
    });
    const lookedUp = await one().inside(
      "return (await (await load('dns/promises')).resolve4('example.com')).length",
    );
    expect(lookedUp).toEqual({ error: expect.stringMatching(/ECONNREFUSED|EAI_AGAIN|ENOTFOUND|ETIMEOUT/) });
  });

  test("its environment has the mark and its own variables, and none that name the user's sockets", async () => {
    const variables = (await one().inside("return Object.keys(process.env)")) as string[];
    expect(variables).toContain("METAMCP_CHILD");
    for (const name of [
      "SSH_AUTH_SOCK",
      "DISPLAY",
      "XDG_RUNTIME_DIR",
      "DBUS_SESSION_BUS_ADDRESS",
      "METAMCP_HOME",
    ])
      expect(variables).not.toContain(name);
  });

  test("secrets inside of a listed folder stay hidden unless they are listed themselves", async () => {
    const home = process.env["HOME"];
    onTestFinished(() => {
      process.env["HOME"] = home;
    });
    const { inside, folder } = await confined((place) => {
      const user = place.path("user");
      for (const name of [".ssh", ".aws", "code"]) mkdirSync(join(user, name), { recursive: true });
      for (const name of [".ssh/id", ".aws/credentials", "code/a", ".netrc"])
        writeFileSync(join(user, name), "x");
      process.env["HOME"] = user;
      return { read: [user], write: [join(user, ".aws")] };
    });
    const user = folder.path("user");
    const see = async (name: string) =>
      await inside("return (await load('fs')).readFileSync(given, 'utf8')", join(user, name));
    expect(await see("code/a")).toBe("x");
    expect(await see(".ssh/id")).toEqual({ error: "ENOENT" });
    expect(await see(".netrc")).not.toBe("x");
    expect(await see(".aws/credentials")).toBe("x");
    expect(await inside("(await load('fs')).writeFileSync(given, 'x')", join(user, "code/b"))).toEqual({
      error: "EROFS",
    });
  });

  test("memory beyond the limit is not given, to no process and in no file in memory", async () => {
    const { inside } = await confined(() => ({ memoryMb: 300, network: "none" }));
    expect(await inside("Buffer.alloc(600e6, 1); return 'taken'")).not.toBe("taken");
    const tmp =
      "const fs = await load('fs'); const block = Buffer.alloc(50e6); for (let at = 0; at < 12; at++) fs.appendFileSync(given, block); return 'written'";
    expect(await inside(tmp, "/tmp/big")).toEqual({ error: "ENOSPC" });
    expect(await inside(tmp, "/dev/shm/big")).toEqual({ error: "ENOSPC" });
  });

  test("variables of the loader act inside only, not in bubblewrap itself", async () => {
    const { inside, pids } = await confined((place) => ({ folder: place.path(".") }), {
      variables: { LD_LIBRARY_PATH: "/nowhere/evil" },
    });
    expect(await inside("return process.env.LD_LIBRARY_PATH")).toBe("/nowhere/evil");
    const outer = Math.min(...pids());
    expect(readFileSync(`/proc/${outer}/cmdline`, "utf8")).toContain("bwrap");
    expect(readFileSync(`/proc/${outer}/environ`, "utf8")).not.toMatch(/(^|\0)LD_/);
  });

  test("it gets SIGTERM and time to end, and nothing of it is left", async () => {
    const { inside, link, pids, folder } = await confined((place) => ({
      folder: place.path("."),
      network: ["one.example"],
    }));
    const proxies = (): readonly string[] => readdirSync(join(folder.home, "egress"));
    expect(proxies()).toHaveLength(1);
    // It stays when its input ends, and a process of its own left its group.
    await inside(
      "const { spawn } = await load('child_process'); spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref(); setInterval(() => {}, 1e6); process.env.ENDED_FILE = given; return 1",
      folder.path("ended"),
    );
    expect(pids().length).toBeGreaterThan(3);
    await link.close();
    expect([pids(), proxies()]).toEqual([[], []]);
    expect(readFileSync(folder.path("ended"), "utf8")).toBe("SIGTERM");
  });

  test("it ends when its gateway is killed", async () => {
    const { pids, connector } = await confined(() => ({ network: "none" }));
    const outer = Math.min(...pids());
    process.kill(outer, "SIGKILL");
    await until(() => pids().length === 0, { what: "the end of all processes" });
    await connector.settled();
  });
});
