// Takes the pictures of the docs, with Chromium, from a gateway that a team has used (scripts/pictures/).
// node scripts/screenshots.mjs [--seconds N]   (needs chromium on the PATH, or METAMCP_CHROMIUM)
// node scripts/screenshots.mjs --keep          keeps the gateway running instead, to look at the console
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findChromium } from "./chromium.mjs";

const MOST_BYTES = 200_000;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({
  options: { keep: { type: "boolean" }, seconds: { type: "string", default: "90" } },
});
const program = findChromium();
if (!program && !values.keep) throw new Error("there is no chromium: install it, or give METAMCP_CHROMIUM");

await import("./setup.mjs");
const { PASSWORD, usedTeam } = await import("./pictures/team.mjs");
const team = await usedTeam({ seconds: Number(values.seconds) });
if (values.keep) {
  console.log(`${team.url}   log in as ada@example.org with the password "${PASSWORD}"; Ctrl-C ends it`);
  await new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
  await team.close();
} else
  try {
    const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
    await takePictures(browser);
    await browser.close();
  } finally {
    await team.close();
  }

async function takePictures(browser) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(team.url);
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  /** `of` is the part of the page that is shown; without it, the window. */
  const picture = async (name, path, { prepare = async () => {}, of } = {}) => {
    await page.goto(new URL(path, team.url).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await prepare();
    await page.locator(".skeleton, [aria-busy=true]").first().waitFor({ state: "detached" });
    const file = join(root, `docs/console/${name}.png`);
    await (of ?? page).screenshot({ path: file });
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes: ${MOST_BYTES} at most`);
  };
  const seen = (text) => () => page.getByText(text).first().waitFor();
  const flow = page.locator(".usage-card").filter({ hasText: "Who calls what" });
  await picture("who-calls-what", "/", { prepare: () => flow.waitFor(), of: flow });
  await picture("overview", "/", { prepare: () => flow.waitFor() });
  await picture("servers", "/servers", { prepare: seen("postgres") });
  await picture("tools", "/tools", { prepare: seen("search_code") });
  await picture("endpoint", "/endpoints/dev?tab=preview", { prepare: seen("A client sees") });
  await picture("policy", "/endpoints/dev?tab=pipeline", {
    async prepare() {
      await page.getByRole("combobox", { name: /^May/ }).fill("linus@example.org");
      await page.getByRole("combobox", { name: /^call/ }).fill("files:delete_file");
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await seen("No, it would be refused")();
    },
  });
  await picture("requests", "/requests", { prepare: seen("drop_table") });
  await picture("try", "/try?endpoint=dev&server=postgres&tool=query", {
    async prepare() {
      await page.getByRole("textbox", { name: /^sql/ }).fill("select id, total from orders limit 2");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await seen("480")();
    },
  });
  const { items } = await team.api("GET", "/calls?outcome=error&server=github&limit=1");
  await picture("failed-call", `/traffic/${items[0].id}`, { prepare: seen("Failed") });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("traffic-dark", "/traffic", { prepare: seen("github:") });
}
