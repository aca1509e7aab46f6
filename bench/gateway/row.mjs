// One row of the table: what, measured, budget, verdict.

/** `limit` is the budget. Without it the row has no verdict. */
export function row(what, value, { limit, unit = "", digits = 2, note = "" } = {}) {
  const text = (number) => `${number.toLocaleString("en", { maximumFractionDigits: digits })}${unit}`;
  return {
    what,
    measured: `${text(value)}${note && ` (${note})`}`,
    budget: limit === undefined ? "" : `≤ ${text(limit)}`,
    verdict: limit === undefined ? "" : value <= limit ? "held" : "MISSED",
  };
}

/** A row for a figure that cannot be measured here. */
export function leftOut(what, why) {
  return { what, measured: `left out: ${why}`, budget: "", verdict: "" };
}

export function table(rows, markdown) {
  const lines = rows.map(({ what, measured, budget, verdict }) => [what, measured, budget, verdict]);
  const head = ["what", "measured", "budget", "verdict"];
  if (markdown)
    return [head, ["---", "---", "---", "---"], ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => line[at].length)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((text, at) => text.padEnd(widths[at]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
