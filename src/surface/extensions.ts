/**
 * The protocol extensions of servers that a client hears of. One passes only if everything that it promises
 * works through us: those that need no method of their own, and all others only where their methods reach the
 * one server that there is.
 */

import { APPS, knowsApps } from "../catalog/tool-app.ts";
import type { Origin } from "../kernel/call.ts";
import { isRecord } from "../kernel/is-record.ts";
import { SKILLS_EXTENSION } from "../kernel/skill-rules.ts";
import { TASKS } from "../rpc/era-2026/names.ts";
import type { ScopeCatalog } from "./scope.ts";

type Settings = Readonly<Record<string, unknown>>;
type Extensions = Readonly<Record<string, unknown>>;

/** Extensions without methods of their own, which any number of servers may have. */
const WITHOUT_METHODS: ReadonlySet<string> = new Set([APPS]);

/** The first two we speak ourselves, and the others are about the connection to the server. */
const NEVER: ReadonlySet<string> = new Set([
  TASKS,
  SKILLS_EXTENSION,
  "io.modelcontextprotocol/oauth-client-credentials",
  "io.modelcontextprotocol/enterprise-managed-authorization",
]);

/** For the aggregate surface. Clients of 2026-07-28 cannot use methods that we do not know. */
export function allExtensions(scope: ScopeCatalog, origin: Origin): Extensions {
  const alone = scope.specs().size === 1 && !origin.era2026;
  return merged(scope, origin, (name) => WITHOUT_METHODS.has(name) || (alone && !NEVER.has(name)));
}

/** For a surface with tools of its own: only hosts that draw pages have a use for an extension there. */
export function appsExtension(scope: ScopeCatalog, origin: Origin): Extensions {
  return knowsApps(origin.capabilities) ? merged(scope, origin, (name) => name === APPS) : {};
}

function merged(scope: ScopeCatalog, origin: Origin, passes: (name: string) => boolean): Extensions {
  const { listings } = scope.view(origin).snapshot;
  const all = new Map<string, Settings>();
  for (const server of scope.specs().keys()) {
    const text = scope.has(server, origin) ? listings.get(server)?.about.extensions : undefined;
    for (const [name, settings] of Object.entries(readExtensions(text)))
      if (passes(name) && isRecord(settings)) all.set(name, mergedSettings(all.get(name), settings));
  }
  return Object.fromEntries(all);
}

function readExtensions(text: string | undefined): Extensions {
  if (text === undefined) return {};
  try {
    const read: unknown = JSON.parse(text);
    return isRecord(read) ? read : {};
  } catch {
    // Somebody edited the file of the cache.
    return {};
  }
}

/** What all servers say alike, and all entries of their lists. */
function mergedSettings(known: Settings | undefined, settings: Settings): Settings {
  if (!known) return settings;
  const both = Object.entries(known).flatMap(([key, value]) => {
    const other = settings[key];
    if (Array.isArray(value) && Array.isArray(other)) return [[key, [...new Set([...value, ...other])]]];
    return JSON.stringify(value) === JSON.stringify(other) ? [[key, value]] : [];
  });
  return Object.fromEntries(both) as Settings;
}
