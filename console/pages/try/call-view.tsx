/** Shows a running or finished call: progress, questions, logs, result, layers. */
import { Fragment } from "preact";
import type { TryEvent } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { membersOf, rootSpan } from "../../components/json/json-text.ts";
import { JsonTree } from "../../components/json-tree.tsx";
import { LogView } from "../../components/log-view.tsx";
import { ResultView } from "../../components/result-view.tsx";
import { count, duration } from "../../format.ts";
import { Refused } from "../../shell/refused.tsx";
import { tryTexts as texts } from "../../texts/try.ts";
import { LayerTimings } from "../traffic/layer-timings.tsx";
import { AppFrame, type AppPlace } from "./app-frame.tsx";
import { Question } from "./question.tsx";
import type { TryState } from "./use-try.ts";

type EventOf<T extends TryEvent["type"]> = Extract<TryEvent, { readonly type: T }>;

interface CallViewProps {
  readonly call: TryState;
  readonly endpoint: string;
  /** The page of the tool, if it has one. */
  readonly page?: AppPlace | undefined;
}

export function CallView({ call, endpoint, page }: CallViewProps) {
  const events = call.events.value;
  const all = <T extends TryEvent["type"]>(type: T) =>
    events.flatMap(({ event }) => (event.type === type ? [event as EventOf<T>] : []));
  const [begun] = all("begun");
  const progress = all("progress").at(-1);
  const withdrawn = new Set(all("withdrawn").map(({ id }) => id));
  const missed = all("missed").reduce((sum, event) => sum + event.count, 0);
  const logs = all("log").map(({ level = "", data }, key) => ({ key, text: `${level} ${textOf(data)}` }));
  const ended = events.find(({ event }) => event.type === "result" || event.type === "error");
  const waiting = call.running.value && !ended;
  return (
    <div class="stack" aria-live="polite">
      <Refused problem={call.problem.value} />
      {waiting && <p role="status">{texts.waiting}</p>}
      {begun && !call.running.value && !ended && !call.problem.value && <p>{texts.cancelled}</p>}
      {progress && waiting && <Progress event={progress} />}
      {begun &&
        waiting &&
        all("question").map(({ question }) =>
          withdrawn.has(question.id) ? null : (
            <Question key={question.id} question={question} at={{ uuid: endpoint, id: begun.id }} />
          ),
        )}
      {ended && <CallEnd event={ended.event as EventOf<"result"> | EventOf<"error">} raw={ended.raw} />}
      {page && begun && ended?.event.type === "result" && (
        <AppFrame
          place={page}
          call={{ args: begun.request.params.arguments, result: JSON.parse(resultIn(ended.raw)) }}
        />
      )}
      {logs.length > 0 && (
        <>
          <h3>{texts.logs}</h3>
          <LogView label={texts.logs} lines={logs} />
        </>
      )}
      {missed > 0 && <p class="muted">{texts.missed(missed)}</p>}
      {begun && (
        <details>
          <summary>{texts.request}</summary>
          <JsonTree label={texts.request} value={begun.request} />
        </details>
      )}
    </div>
  );
}

function Progress({ event: { progress = 0, total, message } }: { readonly event: EventOf<"progress"> }) {
  return (
    <div class="stack-small">
      <progress value={progress} {...(total !== undefined && { max: total })} aria-label={texts.waiting} />
      <p class="muted">
        <span class="number">{total === undefined ? count(progress) : texts.progress(progress, total)}</span>{" "}
        {message && <ForeignText text={message} />}
      </p>
    </div>
  );
}

function CallEnd({
  event,
  raw,
}: {
  readonly event: EventOf<"result"> | EventOf<"error">;
  readonly raw: string;
}) {
  const last = event.calls.at(-1);
  return (
    <>
      <p class="muted">{texts.took(duration(event.ms))}</p>
      {event.type === "result" ? (
        <ResultView raw={resultIn(raw)} />
      ) : (
        <p class="refused" role="alert">
          <ForeignText text={texts.failed(event.error.code, event.error.message)} />
        </p>
      )}
      {last && (
        <Fragment key="way">
          <h3>{texts.way}</h3>
          <div class="panel padded">
            <LayerTimings layers={last.layers} durationMs={last.durationMs} />
          </div>
        </Fragment>
      )}
    </>
  );
}

/** Cuts the result out of the text, because parsing it would lose digits. */
function resultIn(raw: string): string {
  const root = rootSpan(raw);
  const found = root && [...membersOf(raw, root)].find(({ key }) => key === "result");
  return found ? raw.slice(found.start, found.end) : "{}";
}

function textOf(data: unknown): string {
  return typeof data === "string" ? data : JSON.stringify(data);
}
