/**
 * Web globals that QuickJS lacks: URL, TextEncoder, structuredClone and so on. Sent into the sandbox as
 * source text, so it must not refer to anything outside itself.
 */
import type { Bridge } from "./bridge.ts";
import type { Values } from "./values.ts";

export function web(bridge: Bridge, { inspect }: Values): Record<string, unknown> {
  const { parse } = JSON;
  const { keys, defineProperty } = Object;
  const { isArray } = Array;
  const text = String;
  const wellFormed = (value: string): string => value.replaceAll(/\p{Surrogate}/gu, "\ufffd");

  class TextEncoder {
    readonly encoding = "utf-8";
    encode(value: unknown = ""): Uint8Array {
      const escaped = encodeURIComponent(wellFormed(text(value)));
      const bytes: number[] = [];
      for (let i = 0; i < escaped.length; i++) {
        if (escaped[i] !== "%") bytes.push(escaped.charCodeAt(i));
        else {
          bytes.push(Number.parseInt(escaped.slice(i + 1, i + 3), 16));
          i += 2;
        }
      }
      return new Uint8Array(bytes);
    }
  }

  class TextDecoder {
    readonly encoding = "utf-8";
    decode(data?: ArrayBuffer | ArrayBufferView): string {
      if (data === undefined) return "";
      const bytes = ArrayBuffer.isView(data)
        ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : new Uint8Array(data);
      let out = "";
      for (let i = 0; i < bytes.length; ) {
        const first = bytes[i] as number;
        const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
        let code = more <= 0 ? first : first & (0x3f >> more);
        let good = more >= 0 && first < 0xf5;
        for (let k = 1; good && k <= more; k++) {
          const next = bytes[i + k] ?? 0;
          good = (next & 0xc0) === 0x80;
          code = (code << 6) | (next & 0x3f);
        }
        good &&=
          code <= 0x10ffff &&
          !(code >= 0xd800 && code <= 0xdfff) &&
          (more < 2 || code >= (more === 2 ? 0x800 : 0x10000));
        out += good ? String.fromCodePoint(code) : "\ufffd";
        i += good ? more + 1 : 1;
      }
      return out.startsWith("\ufeff") ? out.slice(1) : out;
    }
  }

  function structuredClone(value: unknown): unknown {
    const copies = new Map<object, unknown>();
    const copy = (one: unknown): unknown => {
      if (typeof one === "function" || typeof one === "symbol")
        throw new TypeError(`${inspect(one)} cannot be cloned`);
      if (typeof one !== "object" || one === null) return one;
      if (copies.has(one)) return copies.get(one);
      const keep = <T>(made: T): T => {
        copies.set(one, made);
        return made;
      };
      if (one instanceof Date) return keep(new Date(one));
      if (one instanceof RegExp) return keep(new RegExp(one.source, one.flags));
      if (one instanceof ArrayBuffer) return keep(one.slice(0));
      if (ArrayBuffer.isView(one)) return keep((one as Uint8Array).slice());
      if (one instanceof Error) return keep(Object.assign(new Error(one.message), { name: one.name }));
      if (one instanceof Map) {
        const made = keep(new Map());
        for (const [key, inner] of one) made.set(copy(key), copy(inner));
        return made;
      }
      if (one instanceof Set) {
        const made = keep(new Set());
        for (const inner of one) made.add(copy(inner));
        return made;
      }
      const made = keep((isArray(one) ? [] : {}) as Record<string, unknown>);
      for (const key of keys(one)) made[key] = copy((one as Record<string, unknown>)[key]);
      return made;
    };
    return copy(value);
  }

  class URLSearchParams {
    #pairs: [string, string][] = [];
    #changed: (() => void) | undefined;
    constructor(init: unknown = "", changed?: () => void) {
      if (typeof init === "string") this.#parse(init);
      else {
        const pairs =
          Symbol.iterator in (init as object)
            ? (init as Iterable<[unknown, unknown]>)
            : Object.entries(init as object);
        for (const [key, value] of pairs) this.#pairs.push([text(key), text(value)]);
      }
      this.#changed = changed;
    }
    #parse(query: string): void {
      const plain = (part: string) => {
        const spaced = part.replaceAll("+", " ");
        try {
          return decodeURIComponent(spaced);
        } catch {
          return spaced;
        }
      };
      for (const part of query.replace(/^\?/, "").split("&")) {
        if (part === "") continue;
        const at = part.indexOf("=");
        this.#pairs.push(at < 0 ? [plain(part), ""] : [plain(part.slice(0, at)), plain(part.slice(at + 1))]);
      }
    }
    #set(pairs: [string, string][]): void {
      this.#pairs = pairs;
      this.#changed?.();
    }
    get size(): number {
      return this.#pairs.length;
    }
    append(key: unknown, value: unknown): void {
      this.#set([...this.#pairs, [text(key), text(value)]]);
    }
    delete(key: unknown): void {
      this.#set(this.#pairs.filter(([name]) => name !== text(key)));
    }
    get(key: unknown): string | null {
      return this.#pairs.find(([name]) => name === text(key))?.[1] ?? null;
    }
    getAll(key: unknown): string[] {
      return this.#pairs.flatMap(([name, value]) => (name === text(key) ? [value] : []));
    }
    has(key: unknown): boolean {
      return this.#pairs.some(([name]) => name === text(key));
    }
    set(key: unknown, value: unknown): void {
      const at = this.#pairs.findIndex(([name]) => name === text(key));
      const rest = this.#pairs.filter(([name], index) => name !== text(key) || index === at);
      this.#set(
        at < 0
          ? [...rest, [text(key), text(value)]]
          : rest.map((pair) => (pair[0] === text(key) ? [pair[0], text(value)] : pair)),
      );
    }
    sort(): void {
      this.#set(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    }
    forEach(visit: (value: string, key: string, params: URLSearchParams) => void): void {
      for (const [key, value] of this.#pairs) visit(value, key, this);
    }
    *keys() {
      for (const [key] of this.#pairs) yield key;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    *entries() {
      for (const [key, value] of this.#pairs) yield [key, value] as const;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString(): string {
      const coded = (part: string) =>
        encodeURIComponent(wellFormed(part))
          .replaceAll("%20", "+")
          .replaceAll(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
      return this.#pairs.map(([key, value]) => `${coded(key)}=${coded(value)}`).join("&");
    }
  }

  const PARTS = [
    "href",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ];
  /**
   * Asks the host to parse a URL. The host refuses longer ones, so they are refused here without copying
   * them.
   */
  const parseInHost = (op: string, a: string, b: string, c: string): string =>
    a.length + b.length + c.length > 65_600 ? "" : bridge(op, a, b, c);
  class URL {
    #parts: Record<string, string>;
    #params: URLSearchParams | undefined;
    constructor(href: unknown, base?: unknown) {
      const parts = parseInHost(
        "url",
        text(href),
        base === undefined ? "" : text(base),
        base === undefined ? "" : "based",
      );
      if (parts === "") throw new TypeError(`Invalid URL: ${text(href).slice(0, 200)}`);
      this.#parts = parse(parts) as Record<string, string>;
      for (const part of PARTS) {
        defineProperty(this, part, {
          enumerable: true,
          configurable: true,
          get: () => this.#parts[part],
          set: (value: unknown) => this.#change(part, text(value)),
        });
      }
    }
    #change(part: string, value: string): void {
      const parts = parseInHost("url-set", this.#parts["href"] as string, part, value);
      if (parts === "") throw new TypeError(`Invalid URL: ${value.slice(0, 200)}`);
      this.#parts = parse(parts) as Record<string, string>;
      if (part !== "search" && part !== "href") return;
      this.#params = undefined;
    }
    get origin(): string | undefined {
      return this.#parts["origin"];
    }
    get searchParams(): URLSearchParams {
      const params = new URLSearchParams(this.#parts["search"], () => {
        const query = params.toString();
        const parts = parseInHost("url-set", this.#parts["href"] as string, "search", query);
        if (parts === "") throw new TypeError("Invalid URL: its query is too long");
        this.#parts = parse(parts) as Record<string, string>;
      });
      this.#params ??= params;
      return this.#params;
    }
    static canParse(href: unknown, base?: unknown): boolean {
      return (
        parseInHost(
          "url",
          text(href),
          base === undefined ? "" : text(base),
          base === undefined ? "" : "based",
        ) !== ""
      );
    }
    static parse(href: unknown, base?: unknown): URL | null {
      return URL.canParse(href, base) ? new URL(href, base) : null;
    }
    toString(): string {
      return this.#parts["href"] as string;
    }
    toJSON(): string {
      return this.toString();
    }
  }

  const randomHex = (bytes: number): string => bridge("random", text(bytes), "", "");
  const crypto = {
    randomUUID(): string {
      const hex = randomHex(16);
      const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16);
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        variant + hex.slice(17, 20),
        hex.slice(20, 32),
      ].join("-");
    },
    getRandomValues<T extends Uint8Array>(array: T): T {
      if (array.byteLength > 65_536) throw new RangeError("At most 65,536 random bytes at once");
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      const hex = randomHex(bytes.length);
      for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
      return array;
    },
  };

  return { URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, crypto };
}
