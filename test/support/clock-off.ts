export const HOUR = 3_600_000;

/** The environment of a process whose clock is off by this time. */
export const clockOff = (ms: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${JSON.stringify(`data:text/javascript,const now = Date.now; Date.now = () => now() + ${ms};`)}`,
});
