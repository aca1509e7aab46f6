/**
 * What depends on a language, as far as it can be right without language data: numbers and dates as in
 * English (US), and an order of letters that suits most languages. The rest throws. Sent into the sandbox as
 * source text, so it must not refer to anything outside itself.
 */

export function locale(): Record<string, unknown> {
  const text = String;
  const ENGLISH = ["", "en", "en-us"];

  function unavailable(what: string, instead: string): never {
    throw new Error(`${what} is not available in the sandbox: ${instead}`);
  }

  function isEnglish(locales: unknown): boolean {
    const [first] = [locales].flat();
    return ENGLISH.includes(first === undefined ? "" : text(first).toLowerCase());
  }

  /** Rounds the digits as written, half away from zero. Exponents do not occur up to 1e21. */
  function rounded(digits: string, most: number): readonly [string, string] {
    const [whole = "0", fraction = ""] = digits.split(".");
    if (fraction.length <= most) return [whole, fraction];
    const kept = BigInt(whole + fraction.slice(0, most)) + ((fraction[most] as string) >= "5" ? 1n : 0n);
    const all = text(kept).padStart(most + 1, "0");
    return [all.slice(0, all.length - most), all.slice(all.length - most)];
  }

  function formatNumber(
    value: number | bigint,
    locales: unknown,
    options: Record<string, unknown> = {},
  ): string {
    const {
      minimumFractionDigits: least,
      maximumFractionDigits: most,
      useGrouping = true,
      ...others
    } = options;
    const plain = text(value).replace(/^-/, "");
    if (!isEnglish(locales) || Object.keys(others).length > 0 || !/^[\d.]+$/.test(plain))
      unavailable(
        "This number format",
        "only English (US) and fraction digits are supported; format it yourself",
      );
    const min = Number(least ?? 0);
    const [whole, fraction] = rounded(plain, Number(most ?? Math.max(min, 3)));
    const grouped = useGrouping ? whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",") : whole;
    const shown = fraction.replace(/0+$/, "").padEnd(min, "0");
    return `${value < 0 ? "-" : ""}${grouped}${shown === "" ? "" : `.${shown}`}`;
  }

  const two = (value: number): string => text(value).padStart(2, "0");
  const dateOf = (date: Date): string =>
    `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
  const timeOf = (date: Date): string =>
    `${date.getUTCHours() % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${date.getUTCHours() < 12 ? "AM" : "PM"}`;
  const dateMethod = (write: (date: Date) => string) =>
    function (this: Date, locales?: unknown, options?: object): string {
      const asUsual = Object.entries(options ?? {}).every(
        ([key, value]) => key === "timeZone" && value === "UTC",
      );
      if (!isEnglish(locales) || !asUsual)
        unavailable(
          "This date format",
          "only English (US) in UTC is supported; use toISOString() or format it yourself",
        );
      return Number.isNaN(this.getTime()) ? "Invalid Date" : write(this);
    };

  const bare = (value: string): string => value.normalize("NFD").replaceAll(/\p{M}/gu, "");
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const numeric = (a: string, b: string): number => {
    const parts = (one: string): readonly string[] => one.match(/\d+|\D+/g) ?? [];
    const [left, right] = [parts(a), parts(b)];
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
      const [one = "", other = ""] = [left[at], right[at]];
      const both = /^\d/.test(one) && /^\d/.test(other);
      const found = both ? Number(BigInt(one) - BigInt(other)) : order(one, other);
      if (found !== 0) return Math.sign(found);
    }
    return Math.sign(left.length - right.length);
  };

  /** First the letters, then the accents, then the case, lower first. */
  function localeCompare(
    this: string,
    other: unknown,
    _locales?: unknown,
    options: Record<string, unknown> = {},
  ): number {
    const [a, b] = [text(this).normalize("NFC"), text(other).normalize("NFC")];
    const { sensitivity = "variant" } = options;
    const compare = options["numeric"] === true ? numeric : order;
    const letters = compare(bare(a).toLowerCase(), bare(b).toLowerCase());
    if (letters !== 0 || sensitivity === "base") return letters;
    const accents = sensitivity === "case" ? 0 : order(a.toLowerCase(), b.toLowerCase());
    if (accents !== 0 || sensitivity === "accent") return accents;
    return order(b, a);
  }

  const methods: readonly (readonly [object, string, unknown])[] = [
    [
      Number.prototype,
      "toLocaleString",
      function (this: number, locales?: unknown, options?: Record<string, unknown>) {
        return Number.isFinite(Number(this)) ? formatNumber(Number(this), locales, options) : text(this);
      },
    ],
    [
      BigInt.prototype,
      "toLocaleString",
      function (this: bigint, locales?: unknown, options?: Record<string, unknown>) {
        return formatNumber(this, locales, options);
      },
    ],
    [Date.prototype, "toLocaleDateString", dateMethod(dateOf)],
    [Date.prototype, "toLocaleTimeString", dateMethod(timeOf)],
    [Date.prototype, "toLocaleString", dateMethod((date) => `${dateOf(date)}, ${timeOf(date)}`)],
    [String.prototype, "localeCompare", localeCompare],
  ];
  for (const [prototype, name, value] of methods)
    Object.defineProperty(prototype, name, { value, writable: true, enumerable: false, configurable: true });

  const intl = new Proxy(
    {},
    {
      get: (_target, key) =>
        typeof key === "string" ? unavailable(`Intl.${key}`, "format or sort values yourself") : undefined,
    },
  );
  return { Intl: intl };
}
