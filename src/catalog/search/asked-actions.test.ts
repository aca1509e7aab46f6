import { expect, test } from "vitest";
import { actionsOf, actionsOfName, KIND_COUNT } from "./actions.ts";
import { loadAskedActions } from "./asked-actions.ts";
import { words } from "./words.ts";

test.each([
  ["create_comment", "create"],
  ["comment_create", "create"],
  ["messages_list", "list"],
  ["sheets_format_cells", "format"],
  ["get_comment", "get"],
  ["get_comments", "list"],
  ["get_status", "get"],
])("%s does what %j says", (name, verb) => {
  expect(actionsOfName(words(name))).toBe(actionsOf(verb));
});

test("a name without a verb does not say what the tool does", () => {
  expect(actionsOfName(words("weather_tomorrow"))).toBe(0);
});

test.each([
  ["leave a comment on the task", "create"],
  ["get rid of the old branch", "delete"],
  ["which playlists do i have", "list"],
  ["call it budget 2026 instead", "rename"],
  ["give the server a kick, it hangs", "restart"],
  ["let anna know i am late", "send"],
  ["turn this word file into a pdf", "convert"],
])("%j asks to %s", async (question, verb) => {
  const likelihoods = (await loadAskedActions()).of(words(question));
  expect(likelihoods).toHaveLength(KIND_COUNT);
  const likeliest = likelihoods.indexOf(1);
  expect(actionsOf(verb) & (1 << likeliest)).not.toBe(0);
});
