import { expect, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { sqliteDatabase } from "../../../test/support/test-databases.ts";
import { StoreError } from "../../store/error.ts";
import { StoredPins } from "./stored-pins.ts";

test("what several gateways approve at one moment is all kept", async () => {
  const store = await sqliteDatabase().open();
  const names = ["a", "b", "c"];
  let decided = 0;
  const approve = (name: string): Promise<void> =>
    new StoredPins(store, temp().home).update("s", (text = "") => {
      decided += 1;
      return text + name;
    });
  await Promise.all(names.map(approve));
  const text = await new StoredPins(store, temp().home).read("s");
  expect([...(text ?? "")].sort()).toEqual(names);
  // Otherwise they did not meet.
  expect(decided).toBeGreaterThan(names.length);
});

test("while the store is away the last text counts, and without one nothing is known", async () => {
  const store = await sqliteDatabase().open();
  const { records } = store;
  const get = records.get.bind(records);
  let away = false;
  records.get = async (kind, id) => {
    if (away) throw new StoreError("unavailable");
    return await get(kind, id);
  };
  const pins = new StoredPins(store, temp().home);
  await pins.update("s", () => "approved");
  away = true;
  expect(await pins.read("s")).toBe("approved");
  await expect(pins.read("other")).rejects.toMatchObject({ code: "unavailable" });
});
