/**
 * A minimal browser without scripts: keeps cookies by path, follows redirects within one origin, and submits
 * forms.
 */

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
  readonly attributes: string;
}

export class Browser {
  readonly #cookies = new Map<string, Cookie>();
  readonly #headers: Readonly<Record<string, string>>;
  /** All redirects, in order. */
  readonly visited: string[] = [];

  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  get cookies(): ReadonlyMap<string, Cookie> {
    return this.#cookies;
  }

  /** Follows redirects within the origin. Stops at a redirect to another origin, which is then `url`. */
  async open(address: string | URL, init: RequestInit = {}): Promise<Page> {
    let url = new URL(address);
    const { origin } = url;
    let request = init;
    for (let hops = 0; hops < 20; hops += 1) {
      const response = await fetch(url, {
        ...request,
        redirect: "manual",
        headers: { ...this.#headers, ...this.#sent(url), ...(request.headers as object) },
      });
      this.#keep(response, url);
      const text = await response.text();
      const next = response.headers.get("location");
      if (next === null || response.status < 300 || response.status > 399)
        return { url, status: response.status, headers: response.headers, text };
      url = new URL(next, url);
      this.visited.push(url.href);
      if (url.origin !== origin) return { url, status: response.status, headers: response.headers, text };
      request = {};
    }
    throw new Error(`too many redirects: ${this.visited.slice(-3).join(" ")}`);
  }

  /** Submits the form of a page with its hidden fields and these fields. */
  async submit(page: Page, fields: Readonly<Record<string, string>>, headers: object = {}): Promise<Page> {
    const hidden = [...page.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
    const body = new URLSearchParams([
      ...hidden.map(([, name = "", value = ""]): [string, string] => [name, value]),
      ...Object.entries(fields),
    ]);
    return await this.open(page.url, {
      method: "POST",
      body: body.toString(),
      headers: {
        origin: page.url.origin,
        "content-type": "application/x-www-form-urlencoded",
        ...headers,
      },
    });
  }

  #sent(url: URL): Record<string, string> {
    const pairs = [...this.#cookies]
      .filter(([, { path }]) => url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, "/")))
      .map(([key, { value }]) => `${key.split(" ")[0]}=${value}`);
    return pairs.length === 0 ? {} : { cookie: pairs.join("; ") };
  }

  #keep(response: Response, url: URL): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(/; */);
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? url.pathname;
      const key = `${name} ${path}`;
      if (value === "" || attributes.some((one) => /1970|^max-age=0$/i.test(one))) this.#cookies.delete(key);
      else this.#cookies.set(key, { value, path, attributes: attributes.join("; ") });
    }
  }
}
