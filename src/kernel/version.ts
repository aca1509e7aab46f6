/** Name and version of MetaMCP, as sent to clients and children. */

declare const __VERSION__: string | undefined;

export const VERSION = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0-dev";
export const IMPLEMENTATION = { name: "metamcp", title: "MetaMCP", version: VERSION } as const;
