/** What is read from the gateway, in each of its states: a skeleton, a failure with a way on, or what came. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ApiProblem } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { EmptyPage } from "../components/empty-state.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { type Loaded, refresh } from "../live/resource.ts";
import { shellTexts } from "../texts/shell.ts";
import { sentence } from "./refused.tsx";

interface ReadyProps<T> {
  readonly of: ReadonlySignal<Loaded<T>> | Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
  /** Of the size of what will be there. */
  readonly loading?: ComponentChildren;
}

/** A refresh that failed leaves what was there: the banner of the shell tells of a gateway that is gone. */
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
