/**
 * Shows log lines as they arrive. It scrolls along with the end, and stops while somebody reads further up.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./log-view.css";

export interface LogLine {
  readonly key: string | number;
  readonly text: string;
  /** Formatted; shown before the text. */
  readonly time?: string;
  readonly level?: "error" | "warn";
}

export interface LogViewProps {
  /** Names the log for screen readers. */
  readonly label: string;
  readonly lines: readonly LogLine[];
  readonly height?: number;
  /** Shown if there are no lines. */
  readonly empty?: string;
}

const texts = componentTexts.log;

/** Earlier lines are rendered on request only. */
const MAX_LINES = 2000;
const NEAR_END_PX = 24;

export function LogView({ label, lines, height = 280, empty = texts.empty }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const [wraps, setWraps] = useState(true);
  const [all, setAll] = useState(false);
  const seen = useRef(0);
  const shown = all ? lines : lines.slice(-MAX_LINES);
  useLayoutEffect(() => {
    if (!follows) return;
    seen.current = lines.length;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines, follows, wraps]);
  const onScroll = () => {
    const element = box.current;
    if (element) setFollows(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX);
  };
  const unread = follows ? 0 : Math.max(lines.length - seen.current, 0);
  return (
    <div class="log">
      <div
        ref={box}
        class={`log-lines${wraps ? " log-wraps" : ""}`}
        style={{ height: `${height}px` }}
        {...{ role: "log", "aria-label": label, "aria-live": "off", tabIndex: 0 }}
        onScroll={onScroll}
      >
        {lines.length === 0 && <p class="muted">{empty}</p>}
        {shown.length < lines.length && (
          <Button size="small" kind="quiet" onClick={() => setAll(true)}>
            {texts.earlier(lines.length - shown.length)}
          </Button>
        )}
        {shown.map(({ key, text, time, level }) => (
          <div key={key} class={`log-line${level ? ` log-${level}` : ""}`}>
            {time && <time class="log-time">{time}</time>}
            <ForeignText text={text} />
          </div>
        ))}
      </div>
      <div class="log-bar">
        <span role="status" class="muted">
          {follows ? texts.follows : unread > 0 ? texts.news(unread) : texts.paused}
        </span>
        {!follows && (
          <Button size="small" kind="primary" onClick={() => setFollows(true)}>
            {texts.toEnd}
          </Button>
        )}
        <span class="push" />
        <Button size="small" kind="quiet" pressed={wraps} onClick={() => setWraps(!wraps)}>
          {texts.wrap}
        </Button>
        <CopyButton kind="quiet" text={() => lines.map(({ text }) => text).join("\n")} />
      </div>
    </div>
  );
}
