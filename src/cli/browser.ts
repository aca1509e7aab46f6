/** Opens a page in the person's browser. Starts no shell, waits for nothing, and says nothing where there is none. */
import { spawn } from "node:child_process";

/** Whoever calls has checked that it is a web address. */
export function openBrowser(address: URL): void {
  const opener = openerFor(process.platform, process.env);
  if (!opener) return;
  const [command = "", ...args] = opener;
  const child = spawn(command, [...args, address.href], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

function openerFor(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] | undefined {
  if (platform === "darwin") return ["open"];
  // Not `start`: that one is a command of the shell.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  // Without a screen it would open a browser in the terminal, over what we write there.
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}
