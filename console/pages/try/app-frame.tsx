/** Shows the page of an app in a frame without our origin. It is loaded only when a person asks for it. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { urlOf } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { tryTexts as texts } from "../../texts/try.ts";
import { answerToPage, type ShownCall } from "./app-page.ts";

export interface AppPlace {
  /** Uuid. */
  readonly endpoint: string;
  readonly server: string;
  readonly uri: string;
}

const FIRST_HEIGHT = 240;

export function AppFrame({ place, call }: { readonly place: AppPlace; readonly call: ShownCall }) {
  const shown = useSignal(false);
  const height = useSignal(FIRST_HEIGHT);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent<unknown>): void => {
      const page = frame.current?.contentWindow;
      if (!page || source !== page) return;
      const answer = answerToPage(data, call);
      if (answer.height) height.value = answer.height;
      // The page has no origin that could be named; the frame can show nothing but it.
      for (const message of answer.messages) page.postMessage(message, "*");
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, [call]);
  const { endpoint, server, uri } = place;
  if (!shown.value)
    return (
      <div>
        <Button onClick={() => (shown.value = true)}>{texts.showPage}</Button>
      </div>
    );
  return (
    <iframe
      ref={frame}
      class="app-page"
      title={texts.page}
      sandbox="allow-scripts"
      referrerpolicy="no-referrer"
      src={urlOf("/endpoints/:uuid/app-page", { uuid: endpoint, server, uri })}
      height={height.value}
    />
  );
}
