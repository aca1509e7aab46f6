/** The severity of log messages, as the protocol defines it. */

const SEVERITIES = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type Severity = (typeof SEVERITIES)[number];

export function isSeverity(value: unknown): value is Severity {
  return (SEVERITIES as readonly unknown[]).includes(value);
}

/** Returns a negative number if the first is less severe. */
export function compareSeverity(a: Severity, b: Severity): number {
  return SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b);
}
