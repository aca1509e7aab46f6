/** All layers by name. Checks entries and compiles valid ones. */

import type { FieldProblem } from "../kernel/field-problem.ts";
import { nearest } from "../kernel/nearest.ts";
import { CustomLayers, type FoundLayer } from "./custom-layers.ts";
import type { Layer, LayerContext, LayerEntry, LayerKind } from "./layer.ts";
import type { LayerDescription } from "./layer-description.ts";

/** Returns a copy with defaults filled in, or the problems. */
export type Validate = (
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
) => { readonly value: Readonly<Record<string, unknown>> } | readonly FieldProblem[];

/** A module must be loaded before the entry can be checked: wait for `ready` and try again. */
export class NotLoaded extends Error {
  readonly ready: Promise<unknown>;

  constructor(ready: Promise<unknown>) {
    super("a part that is loaded when first used is not loaded yet");
    this.ready = ready;
  }
}

type CheckedEntry =
  | { readonly kind: LayerKind; readonly options: Readonly<Record<string, unknown>> }
  | readonly FieldProblem[];

export class LayerRegistry {
  readonly #kinds: ReadonlyMap<string, LayerKind>;
  readonly #validate: Validate;
  readonly #own: CustomLayers;
  readonly #schemas = new Map<string, Readonly<Record<string, unknown>>>();
  /** By frozen entry. An entry is checked as input, with all objects, and when it is compiled. */
  readonly #known = new WeakMap<LayerEntry, CheckedEntry>();

  constructor(
    kinds: ReadonlyMap<string, LayerKind>,
    validate: Validate,
    own: CustomLayers = new CustomLayers(undefined),
  ) {
    this.#kinds = kinds;
    this.#validate = validate;
    this.#own = own;
  }

  /** Whether editors may not change this layer. Custom and unknown layers count as guarding. */
  guards(use: string): boolean {
    const kind = this.#kinds.get(use);
    return kind === undefined || kind.guards === true;
  }

  /** Whether the layer may answer without the layers inside of it. */
  answers(use: string): boolean {
    return this.#kinds.get(use)?.answers === true;
  }

  /** Describes all layers. Loads the operator's own ones. */
  async describe(): Promise<readonly LayerDescription[]> {
    const own = await this.#own.names();
    for (const use of own) await this.#own.find(use);
    const names = [...this.#kinds.keys(), ...own];
    const outer = names.filter((use) => this.#mustBeOutside(use));
    return names.map((use) => {
      const found = this.#kind(use);
      if ("fault" in found) return { use, guards: true, schema: {}, inside: [], fault: found.fault };
      const { summary } = found.kind;
      return {
        use,
        ...(summary !== undefined && { summary }),
        guards: this.guards(use),
        schema: this.#schemaOf(use, found.kind),
        inside: this.answers(use) ? outer : [],
      };
    });
  }

  /** Throws NotLoaded. */
  check(entry: LayerEntry): readonly FieldProblem[] {
    const checked = this.#checked(entry);
    return "kind" in checked ? [] : checked;
  }

  /** The problems with the order of a whole pipeline. `at` is an index into `entries`. */
  checkOrder(entries: readonly LayerEntry[]): readonly { readonly at: number; readonly message: string }[] {
    const answering = entries.findIndex(({ use }) => this.answers(use));
    if (answering < 0) return [];
    return entries.flatMap(({ use }, at) =>
      at > answering && this.#mustBeOutside(use)
        ? [{ at: answering, message: `must be inside "${use}": cached results would bypass it` }]
        : [],
    );
  }

  /** Loads what these entries need. Does not report invalid entries; `check` does. */
  async prepare(entries: Iterable<LayerEntry>): Promise<void> {
    for (const entry of entries) {
      let ready = this.#missing(entry);
      while (ready) {
        await ready;
        ready = this.#missing(entry);
      }
    }
  }

  /** Throws if the entry is invalid: an incomplete pipeline must not run. */
  compile(entry: LayerEntry, context: LayerContext): Layer {
    const checked = this.#checked(entry);
    if ("kind" in checked) {
      const layer = checked.kind.compile(checked.options, context);
      return checked.kind.answers ? { ...layer, answers: true } : layer;
    }
    const [first] = checked;
    throw new Error(`layer "${entry.use}": ${first?.path ?? ""} ${first?.message ?? "cannot be used"}`);
  }

  /** Whether the layer must not be inside of one that answers. A custom layer says so itself. */
  #mustBeOutside(use: string): boolean {
    const found = this.#kind(use);
    return "kind" in found && found.kind.guards === true && !found.kind.mayBeInside;
  }

  #missing(entry: LayerEntry): Promise<unknown> | undefined {
    try {
      this.check(entry);
    } catch (error) {
      if (error instanceof NotLoaded) return error.ready;
      throw error;
    }
    return undefined;
  }

  #checked(entry: LayerEntry): CheckedEntry {
    const known = this.#known.get(entry) ?? this.#check(entry);
    // The file of a custom layer can change.
    if (Object.isFrozen(entry) && this.#kinds.has(entry.use)) this.#known.set(entry, known);
    return known;
  }

  #check(entry: LayerEntry): CheckedEntry {
    const { use, ...given } = entry;
    const found = this.#kind(use);
    if ("fault" in found) return [{ path: "/use", message: found.fault }];
    const { kind } = found;
    const checked = this.#validate(this.#schemaOf(use, kind), given);
    if (!("value" in checked)) return checked;
    const ready = kind.load?.(checked.value);
    if (ready) throw new NotLoaded(ready);
    const problems = kind.check?.(checked.value) ?? [];
    return problems.length > 0 ? problems : { kind, options: checked.value };
  }

  #kind(use: string): FoundLayer {
    const kind = this.#kinds.get(use);
    if (kind) return { kind };
    if (!CustomLayers.isPath(use)) return { fault: unknown(use, [...this.#kinds.keys()]) };
    const found = this.#own.find(use);
    if (found instanceof Promise) throw new NotLoaded(found);
    return found;
  }

  #schemaOf(use: string, { schema }: LayerKind): Readonly<Record<string, unknown>> {
    let closed = this.#schemas.get(use);
    if (!closed) {
      closed = { type: "object", ...schema, additionalProperties: false };
      this.#schemas.set(use, closed);
    }
    return closed;
  }
}

function unknown(use: string, known: readonly string[]): string {
  const [meant] = nearest(use, known, 1);
  const guess = meant === undefined ? `known layers: ${known.join(", ")}` : `did you mean "${meant}"?`;
  return `"${use.slice(0, 64)}" is not a layer: ${guess}`;
}
