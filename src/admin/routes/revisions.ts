/** Routes for the history of the config, and for rollback. */

import { rollingBack } from "../../gateway/document/rollback.ts";
import { undoing } from "../../gateway/document/undo.ts";
import { NO_OBJECTS } from "../../gateway/objects.ts";
import { changesBetween } from "../../gateway/settle.ts";
import { REVISION } from "../../kernel/revision.ts";
import { withValues } from "../change-values.ts";
import { cursorAt, cursorIn } from "../page.ts";
import { Problem } from "../problem.ts";
import { DRY_RUN, LIST_QUERY, route } from "../route.ts";
import { APPLIED, listOf, REVISION_WITH_DIFF } from "../schemas.ts";
import { type AdminParts, change } from "./parts.ts";

export function revisionRoutes(parts: AdminParts) {
  const { control } = parts;
  return [
    route({
      method: "GET",
      path: "/revisions",
      summary: "List the revisions of the config, newest first",
      tag: "revisions",
      action: "history.read",
      query: { limit: LIST_QUERY.limit, cursor: LIST_QUERY.cursor },
      answer: listOf(REVISION),
      async handle({ query }) {
        const { limit } = query;
        const cursor = cursorIn(query);
        const before = cursor === undefined ? {} : { before: numberIn(cursor) };
        // Reads one more than the page shows, to know whether there is a next page.
        const found = await control.revisions({ ...before, limit: limit + 1 });
        const items = found.slice(0, limit);
        const last = items.at(-1);
        const more = last && found.length > limit ? { nextCursor: cursorAt(String(last.n)) } : {};
        return { body: { items, ...more } };
      },
    }),
    route({
      method: "GET",
      path: "/revisions/:n",
      summary: "Read one revision and what it changed",
      tag: "revisions",
      action: "history.read",
      answer: REVISION_WITH_DIFF,
      async handle({ params, principal }) {
        const { objects: after, ...revision } = await revisionAt(parts, params.n);
        const { objects: before } = (await control.revisionAt(revision.n - 1)) ?? { objects: NO_OBJECTS };
        const diff = withValues(changesBetween(before, after), [before, after], principal);
        return { body: { ...revision, diff } };
      },
    }),
    route({
      method: "POST",
      path: "/revisions/:n/rollback",
      summary: "Restore the config of a revision, as a new revision",
      tag: "revisions",
      // For an editor, `change` refuses rollbacks with changes that an editor may not make.
      action: "config.apply",
      query: DRY_RUN,
      answer: APPLIED,
      async handle(request) {
        const target = await revisionAt(parts, request.params.n);
        const done = await change(
          parts,
          request,
          (objects, context) => rollingBack(objects, target.objects, context),
          `rollback to revision ${target.n}`,
        );
        return "dry" in done ? done.dry : { body: { revision: done.revision, changes: done.changes } };
      },
    }),
    route({
      method: "POST",
      path: "/revisions/:n/undo",
      summary: "Undo one revision alone, as a new revision; 409 if a later one changed the same values",
      tag: "revisions",
      action: "config.apply",
      query: DRY_RUN,
      answer: APPLIED,
      async handle(request) {
        const { n, objects: after } = await revisionAt(parts, request.params.n);
        const { objects: before } = (await control.revisionAt(n - 1)) ?? { objects: NO_OBJECTS };
        const done = await change(
          parts,
          request,
          (objects, context) => undoing(objects, { before, after }, context),
          `undo revision ${n}`,
        );
        return "dry" in done ? done.dry : { body: { revision: done.revision, changes: done.changes } };
      },
    }),
  ];
}

async function revisionAt({ control }: AdminParts, written: string) {
  const n = numberIn(written);
  const found = n > 0 ? await control.revisionAt(n) : undefined;
  if (!found) throw new Problem(404, `there is no revision ${written.slice(0, 20)}`);
  return found;
}

function numberIn(written: string): number {
  return /^\d{1,15}$/.test(written) ? Number(written) : 0;
}
