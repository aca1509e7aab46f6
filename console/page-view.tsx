/** A page whose code is loaded when it is first shown. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "./components/button.tsx";
import { EmptyState } from "./components/empty-state.tsx";
import { Skeleton } from "./components/skeleton.tsx";
import { shellTexts } from "./texts/shell.ts";

type Load = () => Promise<{ readonly default: ComponentType }>;

export function PageView({ load }: { readonly load: Load }) {
  const loaded = useSignal<{ readonly of: Load; readonly Page?: ComponentType | undefined }>({ of: load });
  useEffect(() => {
    load().then(
      ({ default: Page }) => {
        loaded.value = { of: load, Page };
      },
      // Another build is served meanwhile: its page knows the names of its files.
      () => {
        loaded.value = { of: load, Page: Changed };
      },
    );
  }, [load]);
  const { of, Page } = loaded.value;
  return of === load && Page ? <Page /> : <Skeleton rows={10} kind="row" />;
}

function Changed() {
  const { title, text, reload } = shellTexts.changed;
  return (
    <EmptyState title={title} action={<Button onClick={() => location.reload()}>{reload}</Button>}>
      <p>{text}</p>
    </EmptyState>
  );
}
