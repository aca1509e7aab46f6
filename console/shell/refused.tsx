/** Shows why the gateway refused a request, except errors that a field shows itself. */
import type { ApiProblem } from "../api/client.ts";
import { ForeignText } from "../components/foreign-text.tsx";
import { sentence } from "../format.ts";
import { isIn } from "../use-sending.ts";
import "./refused.css";

interface RefusedProps {
  readonly problem: ApiProblem | undefined;
  /**
   * JSON Pointers of the fields that show errors of values inside of them. Those that ask for their own error
   * with `faultOf` need not be here.
   */
  readonly shownByFields?: readonly string[];
}

export function Refused({ problem, shownByFields = [] }: RefusedProps) {
  if (!problem) return null;
  const remaining = problem.errors.filter(
    ({ path }) => !problem.shown.has(path) && !shownByFields.some((field) => isIn(path, field)),
  );
  if (problem.errors.length > 0 && remaining.length === 0) return null;
  return (
    <div class="refused" role="alert">
      {problem.errors.length === 0 && <ForeignText text={sentence(problem.message)} />}
      {remaining.map(({ path, message }) => (
        <div key={path}>
          {path !== "" && <code>{path.slice(1)}</code>} <ForeignText text={message} />
        </div>
      ))}
    </div>
  );
}
