/** The frame of pages for people who are not logged in: one card in the centre. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Form } from "../components/form.tsx";
import { shellTexts } from "../texts/shell.ts";
import "./bare.css";

export function Bare({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <main class="bare">
      <p class="bare-product">{shellTexts.product}</p>
      <div class="bare-card panel">
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

/** Focuses the first empty field. */
export function BareForm({
  children,
  onSubmit,
}: {
  readonly children: ComponentChildren;
  readonly onSubmit: () => void;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    [...(form.current?.querySelectorAll("input") ?? [])].find(({ value }) => value === "")?.focus();
  }, []);
  return (
    <Form formRef={form} onSubmit={onSubmit}>
      {children}
    </Form>
  );
}
