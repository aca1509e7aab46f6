/** Routes for the settings of the gateway. Without a stored object they return the defaults. */
import { patch, settingsOf } from "../../gateway/changes.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { present } from "../../gateway/present.ts";
import { SETTINGS } from "../../gateway/schemas.ts";
import { type AdminAnswer, DRY_RUN, type Route, type Schema, TAKE_OVER } from "../route.ts";
import { ref } from "../schemas.ts";
import { type AdminParts, change, guardsOf, tagged } from "./parts.ts";

export function settingsRoutes(parts: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/settings",
      summary: "Read the settings of the gateway",
      tag: "settings",
      action: "settings",
      answer: ref("Settings"),
      handle: () => shown(settingsOf(parts.control.compiled.objects)),
    },
    {
      method: "PATCH",
      path: "/settings",
      summary: "Change the settings of the gateway: a JSON Merge Patch",
      tag: "settings",
      action: "settings",
      query: { ...DRY_RUN, ...TAKE_OVER },
      body: ref("SettingsPatch"),
      answer: ref("Settings"),
      async handle(request) {
        const at = { kind: "settings" as const, reference: "", ...guardsOf(request) };
        const done = await change(parts, request, (objects, context) =>
          patch(objects, at, request.body, context),
        );
        return "dry" in done ? done.dry : shown(done.outcome.object);
      },
    },
  ];
}

function shown(settings: StoredObject<"settings"> | undefined): AdminAnswer {
  if (settings) return tagged(settings, present(settings));
  const fields = Object.entries<Schema>(SETTINGS.properties);
  const defaults = fields.flatMap(([name, schema]) =>
    "default" in schema ? [[name, schema["default"]]] : [],
  );
  return {
    body: { ...Object.fromEntries(defaults), managedBy: "api", revision: 0 },
    headers: { etag: '"0"' },
  };
}
