/**
 * Fields in one column, submitted by a `submit` button or by Enter. Fields without a value that they need say
 * so first, all at once and like other errors, instead of a bubble of the browser at one of them.
 */
import type { ComponentChildren, Ref } from "preact";

export interface FormProps {
  readonly onSubmit: () => unknown;
  readonly children: ComponentChildren;
  /** Lets a button outside of the form submit it. */
  readonly id?: string;
  readonly class?: string;
  readonly formRef?: Ref<HTMLFormElement>;
  /** `onSubmit` checks the fields and shows what is wrong with them. */
  readonly checksItself?: boolean;
}

export function Form({ onSubmit, children, id, class: more = "", formRef = null, checksItself }: FormProps) {
  return (
    <form
      id={id}
      ref={formRef}
      class={`stack ${more}`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        if (checksItself || form.checkValidity()) onSubmit();
        else form.querySelector<HTMLElement>(":invalid:not(fieldset)")?.focus();
      }}
    >
      {children}
    </form>
  );
}
