/** Why something was refused, where no field says it. */
import type { ApiProblem } from "../api/client.ts";
import { ForeignText } from "../components/foreign-text.tsx";
import "./refused.css";

interface RefusedProps {
  readonly problem: ApiProblem | undefined;
  /** Fields that say by themselves what is wrong with them: JSON Pointers. */
  readonly told?: readonly string[];
}

export function Refused({ problem, told = [] }: RefusedProps) {
  if (!problem) return null;
  const untold = problem.errors.filter(({ path }) => !told.includes(path));
  if (problem.errors.length > 0 && untold.length === 0) return null;
  return (
    <div class="refused" role="alert">
      {problem.errors.length === 0 && <ForeignText text={sentence(problem.message)} />}
      {untold.map(({ path, message }) => (
        <div key={path}>
          {path !== "" && <code>{path.slice(1)}</code>} <ForeignText text={message} />
        </div>
      ))}
    </div>
  );
}

/** The API begins its reasons with a small letter. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
