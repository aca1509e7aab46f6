/**
 * Marks of our tools for hosts. Some hosts hide the tools of all servers behind a search of their own; a tool
 * that finds tools must not be found first.
 */
export const ALWAYS_LOADED = { "anthropic/alwaysLoad": true } as const;

/** Of a tool that returns results of servers: we keep them within our bound, so hosts need not cut them. */
export const SHOWN_WHOLE = { ...ALWAYS_LOADED, "anthropic/maxResultSizeChars": 500_000 } as const;
