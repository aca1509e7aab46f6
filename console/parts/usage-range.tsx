/** The range of time that figures are about. It is in the address, so that a picture can be shared. */

import { Button } from "../components/button.tsx";
import { address, setQuery } from "../navigate.ts";
import "../components/chart/chart.css";
import { usageTexts as texts } from "../texts/usage.ts";

const RANGES = ["1h", "24h", "7d", "30d"] as const;
export type Range = (typeof RANGES)[number];

export function rangeInAddress(): Range {
  const asked = address.value.query["range"];
  return RANGES.find((range) => range === asked) ?? "1h";
}

/** What is said about each range, made once. */
export function byRange<T>(make: (words: string) => T): Readonly<Record<Range, T>> {
  const made = RANGES.map((range) => [range, make(texts.words[range])]);
  return Object.fromEntries(made) as Record<Range, T>;
}

export function RangePicker() {
  const range = rangeInAddress();
  return (
    <fieldset class="range-picker" aria-label={texts.range}>
      {RANGES.map((one) => (
        <Button
          key={one}
          kind="quiet"
          size="small"
          pressed={one === range}
          onClick={() => setQuery({ range: one === "1h" ? undefined : one })}
        >
          {texts.ranges[one]}
        </Button>
      ))}
    </fieldset>
  );
}
