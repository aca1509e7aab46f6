/** How grave a log message of a child is, in the protocol's own words. */

const SEVERITIES = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type Severity = (typeof SEVERITIES)[number];

export function isSeverity(value: unknown): value is Severity {
  return (SEVERITIES as readonly unknown[]).includes(value);
}

/** Below zero if the first is less grave. */
export function compareSeverity(a: Severity, b: Severity): number {
  return SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b);
}
