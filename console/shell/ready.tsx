/**
 * Shows data of the gateway in each state: a skeleton while loading, the error with a retry button, or the
 * data.
 */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ApiProblem } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { EmptyPage } from "../components/empty-state.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { sentence } from "../format.ts";
import { type Loaded, refresh } from "../live/resource.ts";
import { shellTexts } from "../texts/shell.ts";

interface ReadyProps<T> {
  readonly of: ReadonlySignal<Loaded<T>> | Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
  /** A placeholder of the same size as the content. */
  readonly loading?: ComponentChildren;
}

/**
 * After a failed refresh the old data stays, because the banner of the shell reports an unreachable gateway.
 */
export function Ready<T>({ of, children, loading }: ReadyProps<T>) {
  const loaded = "peek" in of ? of.value : of;
  if (loaded.value !== undefined) return <>{children(loaded.value)}</>;
  if (loaded.state === "failed") return <Failed problem={loaded.problem} />;
  return <>{loading ?? <Skeleton rows={8} kind="row" />}</>;
}

export function Failed({ problem }: { readonly problem: ApiProblem }) {
  return (
    <EmptyPage
      title={shellTexts.problem.title}
      action={<Button onClick={() => refresh("")}>{shellTexts.problem.again}</Button>}
    >
      <p>{sentence(problem.message)}</p>
    </EmptyPage>
  );
}
