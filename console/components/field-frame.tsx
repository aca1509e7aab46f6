/** Label, hint and error of one control, linked to it for screen readers. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { sentence } from "../format.ts";
import { componentTexts } from "../texts/components.ts";
import { ForeignText } from "./foreign-text.tsx";
import "./field.css";

/** Props of all fields. */
export interface FieldProps {
  readonly label: string;
  /** Shows the label to screen readers only, if the context makes it clear. */
  readonly labelHidden?: boolean;
  /** Monospaced label, for names of members and arguments. */
  readonly labelMono?: boolean;
  readonly hint?: ComponentChildren;
  /** Why the value is invalid. */
  readonly error?: string | undefined;
  readonly required?: boolean;
  /** Shows "optional" beside the label. */
  readonly optional?: boolean;
  readonly disabled?: boolean;
  readonly name?: string;
  readonly autofocus?: boolean;
}

export interface ControlProps {
  readonly id: string;
  readonly name: string | undefined;
  readonly required: boolean | undefined;
  readonly disabled: boolean | undefined;
  readonly autofocus: boolean | undefined;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

export function FieldFrame(
  props: FieldProps & { readonly control: (control: ControlProps) => ComponentChildren },
) {
  const unfit = useSignal<string | undefined>(undefined);
  const { hint, error = unfit.value } = props;
  const control = useControl({ ...props, error });
  const { id } = control;
  return (
    <div
      class={`field${error ? " field-wrong" : ""}`}
      // The form checks its fields.
      onInvalidCapture={(event) => (unfit.value = unfitText((event.target as HTMLInputElement).validity))}
      onInput={() => (unfit.value = undefined)}
    >
      <FieldLabel id={id} field={props} shown="field-label" />
      <FieldHint id={id} hint={hint} />
      {props.control(control)}
      {error && <FieldError id={`${id}-error`} text={error} />}
    </div>
  );
}

/** The attributes that link a control to its label, hint and error. */
export function useControl(props: FieldProps): ControlProps {
  const id = useId();
  const { hint, error } = props;
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return {
    id,
    name: props.name,
    required: props.required,
    disabled: props.disabled,
    autofocus: props.autofocus,
    "aria-describedby": described || undefined,
    "aria-invalid": error ? true : undefined,
  };
}

function unfitText({ valueMissing, typeMismatch }: ValidityState): string {
  const { required } = componentTexts.form.problems;
  if (valueMissing) return required;
  return typeMismatch ? componentTexts.mismatch : componentTexts.unfit;
}

interface FieldLabelProps {
  /** The id of the control. */
  readonly id: string;
  readonly field: FieldProps;
  /** The class of a label that is shown. */
  readonly shown: string;
}

export function FieldLabel({ id, field, shown }: FieldLabelProps) {
  return (
    <label for={id} class={labelClass(field, shown)}>
      <ForeignText text={field.label} />
      <FieldMark required={field.required} optional={field.optional} />
    </label>
  );
}

export function FieldHint({ id, hint }: { readonly id: string; readonly hint: ComponentChildren }) {
  if (!hint) return null;
  return (
    <div id={`${id}-hint`} class="field-hint">
      {hint}
    </div>
  );
}

export function labelClass({ labelHidden, labelMono }: FieldProps, shown: string): string {
  if (labelHidden) return "for-screen-readers";
  return labelMono ? `${shown} mono` : shown;
}

interface FieldMarkProps {
  readonly required: boolean | undefined;
  readonly optional: boolean | undefined;
}

export function FieldMark({ required, optional }: FieldMarkProps) {
  if (required)
    return (
      <span class="field-required" title={componentTexts.required} aria-hidden="true">
        *
      </span>
    );
  return optional ? <span class="field-optional">{componentTexts.optional}</span> : null;
}

export function FieldError({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <div id={id} class="field-error" role="alert">
      <ForeignText text={sentence(text)} />
    </div>
  );
}
