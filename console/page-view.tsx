/** Shows a page and loads its code on first use. */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./components/button.tsx";
import { EmptyPage } from "./components/empty-state.tsx";
import { Skeleton } from "./components/skeleton.tsx";
import { connection } from "./live/events.ts";
import { shellTexts } from "./texts/shell.ts";

type Load<P> = () => Promise<{ readonly default: ComponentType<P> }>;

/** All properties but `load` are passed on. */
export function PageView<P extends object = object>({ load, ...rest }: P & { readonly load: Load<P> }) {
  const loaded = useSignal<{ readonly of: Load<P>; readonly Page?: ComponentType<P> | undefined }>({
    of: load,
  });
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
  return of === load && Page ? <Page {...(rest as unknown as P)} /> : <Skeleton rows={10} kind="row" />;
}

/**
 * The code of the page could not be loaded. Either the gateway serves another build with other file names: a
 * reload helps. Or the gateway was unreachable: then the page reloads once it is back. A reload loses no
 * input, because no form is shown here.
 */
function NotLoaded() {
  const { title, text, reload } = shellTexts.notLoaded;
  const { unreachable } = shellTexts;
  const wasAway = useRef(false);
  useSignalEffect(() => {
    if (connection.value !== "live") wasAway.current = true;
    else if (wasAway.current) location.reload();
  });
  if (connection.value === "offline")
    return (
      <EmptyPage title={unreachable.title}>
        <p>{unreachable.text}</p>
      </EmptyPage>
    );
  return (
    <EmptyPage title={title} action={<Button onClick={() => location.reload()}>{reload}</Button>}>
      <p>{text}</p>
    </EmptyPage>
  );
}
