/**
 * The four surfaces by name. Each is loaded only where it is used, because together they are a large part of
 * the program.
 */
import type { Scope } from "./scope.ts";
import type { Surface } from "./surface.ts";

export type SurfaceName = "meta" | "metatools" | "aggregate" | "auto";

export interface SurfaceOptions {
  /** Clients get list_changed notifications. */
  readonly notify: boolean;
  /** Puts what acts on requests around a surface. */
  readonly wrap: (surface: Surface) => Surface;
}

/** A surface that is loaded. */
export interface SurfaceKind {
  readonly name: SurfaceName;
  /**
   * Returns a function that returns the surface of a new session. Only the auto surface has one object per
   * session.
   */
  open(scope: Scope, options: SurfaceOptions): () => Surface;
}

/** One object for all sessions. */
export function shared(surface: Surface, { wrap }: SurfaceOptions): () => Surface {
  const wrapped = wrap(surface);
  return () => wrapped;
}
