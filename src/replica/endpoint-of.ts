/** Splits HOST:PORT. An IPv6 address is in brackets. */
export function endpointOf(address: string): { readonly host: string; readonly port: number } {
  const [, host = "", port] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return { host, port: Number(port) };
}
