/** The way of a call through its layers, each with the time it took of its own. */
import type { RecentCall } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { duration } from "../../format.ts";
import { trafficTexts } from "../../texts/traffic.ts";
import "./layer-way.css";

const texts = trafficTexts.one;
const SHAPES = { passed: "ok", answered: "busy", refused: "bad" } as const;

interface LayerWayProps {
  readonly layers: RecentCall["layers"];
  readonly durationMs: number;
}

export function LayerWay({ layers, durationMs }: LayerWayProps) {
  if (layers.length === 0) return <p class="muted">{texts.noLayers}</p>;
  const ownMs = layers.reduce((sum, { ms }) => sum + ms, 0);
  const reached = layers.every(({ outcome }) => outcome === "passed");
  return (
    <ol class="layer-way">
      {layers.map(({ use, ms, outcome }, at) => (
        <li key={`${at} ${use}`}>
          <code>
            <ForeignText text={use} />
          </code>
          <Status state={SHAPES[outcome]} word={texts.steps[outcome]} />
          <Bar share={ms / durationMs} />
          <span class="layer-way-time">{duration(ms)}</span>
        </li>
      ))}
      {reached && (
        <li>
          <span class="muted">{texts.rest}</span>
          <span />
          <Bar share={(durationMs - ownMs) / durationMs} />
          <span class="layer-way-time">{duration(Math.max(0, durationMs - ownMs))}</span>
        </li>
      )}
    </ol>
  );
}

function Bar({ share }: { readonly share: number }) {
  const width = `${Math.min(100, Math.max(0.5, 100 * share)).toFixed(1)}%`;
  return (
    <span class="layer-way-bar" aria-hidden="true">
      <span style={{ width }} />
    </span>
  );
}
