/** Opens a page in the browser. Starts no shell, does not wait, and does nothing if there is no browser. */
import { spawn } from "node:child_process";

/** The caller must check that the address is http or https. */
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
  // `start` would need a shell.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  // Without a display xdg-open would start a text browser in the terminal, over our output.
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}
