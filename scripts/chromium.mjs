// Finds Chromium: METAMCP_CHROMIUM, or the first on the PATH. Headless shells come first: they have no windows.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
];

/** Undefined if there is none. */
export function findChromium() {
  const folders = process.env.PATH.split(delimiter);
  const all = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return process.env.METAMCP_CHROMIUM ?? all.find(existsSync);
}
