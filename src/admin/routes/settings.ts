/** Routes for the settings of the gateway. Without a stored object they return the defaults. */

import { patching, settingsOf } from "../../gateway/changes.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { present } from "../../gateway/present.ts";
import { SETTINGS, type SettingsFields } from "../../gateway/schemas.ts";
import type { Schema, Static } from "../../kernel/json-schema.ts";
import { type AdminAnswer, DRY_RUN, route, TAKE_OVER } from "../route.ts";
import { RETURNED_SETTINGS, SETTINGS_PATCH } from "../schemas.ts";

import { type AdminParts, change, guardsOf, tagged } from "./parts.ts";

export function settingsRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/settings",
      summary: "Read the settings of the gateway",
      tag: "settings",
      action: "settings",
      answer: RETURNED_SETTINGS,
      handle: () => shown(settingsOf(parts.control.compiled.objects)),
    }),
    route({
      method: "PATCH",
      path: "/settings",
      summary: "Change the settings of the gateway: a JSON Merge Patch",
      tag: "settings",
      action: "settings",
      query: { ...DRY_RUN, ...TAKE_OVER },
      body: SETTINGS_PATCH,
      checksBody: true,
      answer: RETURNED_SETTINGS,
      async handle(request) {
        const at = { kind: "settings" as const, reference: "", ...guardsOf(request) };
        const done = await change(parts, request, (objects, context) =>
          patching(objects, at, request.body, context),
        );
        return "dry" in done ? done.dry : shown(done.outcome.object);
      },
    }),
  ];
}

type ShownSettings = Static<typeof RETURNED_SETTINGS>;

function shown(settings: StoredObject<"settings"> | undefined): AdminAnswer<ShownSettings> {
  if (settings) return tagged(settings, present(settings));
  const fields = Object.entries<Schema>(SETTINGS.properties);
  const defaults = fields.flatMap(([name, schema]) =>
    "default" in schema ? [[name, schema["default"]]] : [],
  );
  return {
    body: { ...(Object.fromEntries(defaults) as SettingsFields), managedBy: "api", revision: 0 },
    headers: { etag: '"0"' },
  };
}
