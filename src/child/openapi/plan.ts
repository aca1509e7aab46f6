/** How the arguments of a tool become an HTTP request. Plain data: it comes from a thread as JSON. */
import type { Encoding } from "./operation.ts";
import type { Place, Serialization } from "./style.ts";

export interface ParameterPlan extends Serialization {
  /** The name of the argument. */
  readonly argument: string;
  readonly name: string;
  readonly in: Place;
  readonly required: boolean;
}

export type BodyKind = "json" | "form" | "multipart" | "text" | "binary";

export interface BodyPlan {
  readonly kind: BodyKind;
  /** The media type. */
  readonly type: string;
  readonly required: boolean;
  /** The argument with the body. Without it, the body is all arguments that are no parameters. */
  readonly argument?: string;
  readonly encoding: Readonly<Record<string, Encoding>>;
}

export interface Plan {
  readonly method: string;
  /** The address of the API for this operation. */
  readonly base: string;
  /** With `{name}` for each parameter of the path. */
  readonly path: string;
  readonly parameters: readonly ParameterPlan[];
  readonly body?: BodyPlan;
  readonly accept: string;
  /**
   * What the tool gives back: the value of the answer, the value as `result`, or text; or as MetaMCP answers
   * for a tool of its own.
   */
  readonly answer: "object" | "wrapped" | "text" | "tool";
}
