/**
 * The URL at which people and clients reach a gateway: `--public-url`, else the address that it listens on.
 */

export class GatewayAddress {
  readonly #publicUrl: string | undefined;
  #listening = "";

  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
  }

  /** Called once the gateway listens. */
  listensOn(url: string): void {
    this.#listening = url;
  }

  /** Without a slash at the end. Empty while there is no public URL and nothing listens. */
  readonly url = (): string => (this.#publicUrl ?? this.#listening).replace(/\/$/, "");

  /** Empty as long as `url` is. */
  readonly origin = (): string => (this.url() === "" ? "" : new URL(this.url()).origin);
}
