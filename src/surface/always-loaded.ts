/**
 * Marks tools that a host must show to the model at once. Some hosts hide the tools of all servers behind a
 * search of their own; a tool that finds tools must not be found first.
 */
export const ALWAYS_LOADED = { "anthropic/alwaysLoad": true } as const;
