/** The console of a gateway with several replicas. */
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { RawSession, replicas } from "../support/replica-team.ts";
import { onPostgres } from "../support/replicas.ts";
import { shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import type { TeamProcess } from "../support/team-process.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

describe.skipIf(noBrowser)("replicas in the console", () => {
  onPostgres("two of them", () => {
    const team = shared(() => replicas(2));

    test("the page lists them, and rows of the other pages name theirs", async () => {
      const { replicas: all, key } = team();
      const [one, two] = all as [TeamProcess, TeamProcess];
      const { items } = await until(async () => {
        const { body } = await one.api("GET", "/replicas");
        return body.items.length === 2 ? body : undefined;
      });
      const [first, second] = items.map(({ id }: { id: string }) => id);
      for (const at of [one, two])
        await (await new RawSession(key).open(at)).call(at, "fix__echo", { message: "seen" });
      const page = await openConsole(one, { browser: { viewport: { width: 1280, height: 900 } } });
      await page.getByRole("link", { name: "Replicas" }).click();
      for (const id of [first, second]) await page.getByRole("row", { name: new RegExp(id) }).waitFor();
      for (const name of ["Address", "Version", "Since"])
        await page.getByRole("columnheader", { name, exact: true }).waitFor();
      // On a narrow screen the column is hidden.
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByRole("row", { name: new RegExp(second) }).click();
      await page.getByRole("link", { name: "Show traffic" }).click();
      await page.getByRole("row", { name: new RegExp(second) }).waitFor();
      expect(await page.getByRole("row", { name: new RegExp(first) }).count()).toBe(0);
      await page.getByRole("link", { name: "Sessions" }).click();
      for (const id of [first, second]) await page.getByRole("row", { name: new RegExp(id) }).waitFor();
      await page.getByRole("link", { name: "Servers" }).click();
      await page.getByText("fix", { exact: true }).first().click();
      await page.getByRole("heading", { name: "Replicas" }).waitFor();
      for (const id of [first, second])
        await page.locator(".replica-states li", { hasText: id }).getByText("1 running").waitFor();
    });
  });

  test("a gateway alone has no such page", async () => {
    const page = await openConsole(await teamGateway(temp()));
    await page.getByRole("link", { name: "Settings" }).waitFor();
    expect(await page.getByRole("link", { name: "Replicas" }).count()).toBe(0);
  });
});
