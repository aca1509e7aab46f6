/** A page whose code is loaded when it is first shown. */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./components/button.tsx";
import { EmptyPage } from "./components/empty-state.tsx";
import { Skeleton } from "./components/skeleton.tsx";
import { connection } from "./live/events.ts";
import { shellTexts } from "./texts/shell.ts";

type Load = () => Promise<{ readonly default: ComponentType }>;

export function PageView({ load }: { readonly load: Load }) {
  const loaded = useSignal<{ readonly of: Load; readonly Page?: ComponentType | undefined }>({ of: load });
  useEffect(() => {
    load().then(
      ({ default: Page }) => {
        loaded.value = { of: load, Page };
      },
      () => {
        loaded.value = { of: load, Page: NotLoaded };
      },
    );
  }, [load]);
  const { of, Page } = loaded.value;
  return of === load && Page ? <Page /> : <Skeleton rows={10} kind="row" />;
}

/**
 * Either another build is served meanwhile, and its page knows the names of its files, or the gateway was away: then the page is loaded
 * again as soon as it is back. Nothing can be lost here that somebody typed.
 */
function NotLoaded() {
  const { title, text, reload } = shellTexts.notLoaded;
  const away = useRef(false);
  useSignalEffect(() => {
    if (connection.value !== "live") away.current = true;
    else if (away.current) location.reload();
  });
  return (
    <EmptyPage title={title} action={<Button onClick={() => location.reload()}>{reload}</Button>}>
      <p>{text}</p>
    </EmptyPage>
  );
}
