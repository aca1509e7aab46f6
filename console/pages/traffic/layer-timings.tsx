/** Lists the layers that a call passed, each with its outcome and its own time. */
import type { RecentCall } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { duration } from "../../format.ts";
import { trafficTexts } from "../../texts/traffic.ts";
import "./layer-timings.css";

const texts = trafficTexts.one;
const STATES = { passed: "ok", answered: "busy", refused: "bad" } as const;

interface LayerTimingsProps {
  readonly layers: RecentCall["layers"];
  readonly durationMs: number;
}

export function LayerTimings({ layers, durationMs }: LayerTimingsProps) {
  if (layers.length === 0) return <p class="muted">{texts.noLayers}</p>;
  const ownMs = layers.reduce((sum, { ms }) => sum + ms, 0);
  const reachedServer = layers.every(({ outcome }) => outcome === "passed");
  return (
    <ol class="layer-timings">
      {layers.map(({ use, ms, outcome }, at) => (
        <li key={`${at} ${use}`}>
          <code>
            <ForeignText text={use} />
          </code>
          <Status state={STATES[outcome]} word={texts.steps[outcome]} />
          <Bar share={ms / durationMs} />
          <span class="layer-timings-time">{duration(ms)}</span>
        </li>
      ))}
      {reachedServer && (
        <li>
          <span class="muted">{texts.rest}</span>
          <span />
          <Bar share={(durationMs - ownMs) / durationMs} />
          <span class="layer-timings-time">{duration(Math.max(0, durationMs - ownMs))}</span>
        </li>
      )}
    </ol>
  );
}

function Bar({ share }: { readonly share: number }) {
  const width = `${Math.min(100, Math.max(0.5, 100 * share)).toFixed(1)}%`;
  return (
    <span class="layer-timings-bar" aria-hidden="true">
      <span style={{ width }} />
    </span>
  );
}
