/** Samples: JSON trees, diffs, logs. */
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Diff } from "../../components/diff.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { LogView } from "../../components/log-view.tsx";
import { HOSTILE } from "./hostile.ts";
import { State } from "./state.tsx";

const RAW = `{"id":12345678901234567890,"name":"search_issues","ok":true,"score":0.10,"none":null,"items":[{"title":"First","labels":["bug","p1"]},{"title":"Second","labels":[]}],"text":"two\\nlines","long":"${"lorem ipsum ".repeat(60)}","odd key":${JSON.stringify(HOSTILE)},"empty":{}}`;

const MANY = JSON.stringify(
  Array.from({ length: 100_000 }, (_, at) => ({ at, name: `item ${at}`, tags: [at % 7] })),
);

export function Trees() {
  return (
    <>
      <State name="All digits; long texts can be expanded">
        <JsonTree label="Result" raw={RAW} />
      </State>
      <State name="100 000 items, read on demand">
        <JsonTree label="Items" raw={MANY} />
      </State>
      <State name="Not JSON">
        <JsonTree label="Result" raw={`{broken ${HOSTILE}`} />
      </State>
    </>
  );
}

const BEFORE = {
  name: "github",
  enabled: true,
  command: "npx",
  args: ["-y", "server-github"],
  tools: [
    { name: "search_issues", description: "Search issues.\nTakes a query." },
    { name: "delete_repo", description: "Delete a repository." },
  ],
};

const AFTER = {
  name: "github",
  enabled: false,
  command: "npx",
  args: ["-y", "server-github@2.1.0"],
  timeoutMs: 30000,
  tools: [{ name: "search_issues", description: "Search issues and pull requests.\nTakes a query." }],
};

const text = (mark: string) =>
  Array.from({ length: 24 }, (_, at) =>
    at === 6 ? `enabled: ${mark}` : at === 18 ? mark : `line ${at}`,
  ).join("\n");

export function Diffs() {
  return (
    <>
      <State name="Values, by path or as text">
        <Diff before={BEFORE} after={AFTER} />
      </State>
      <State name="Texts">
        <Diff before={text("true")} after={text("false")} />
      </State>
      <State name="No difference">
        <Diff before={BEFORE} after={BEFORE} />
      </State>
    </>
  );
}

const LINES = [
  "server-github 2.1.0 listening on stdio",
  "GET /user 200 in 112 ms",
  "rate limit: 4981 of 5000 left",
  `retrying: ${HOSTILE}`,
  "Error: 401 Bad credentials",
];

export function Logs() {
  const [count, setCount] = useState(24);
  const [runs, setRuns] = useState(false);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setCount((before) => before + 1), 500);
    return () => clearInterval(timer);
  }, [runs]);
  return (
    <State name="Follows the end until somebody scrolls up">
      <div class="line">
        <Button size="small" pressed={runs} onClick={() => setRuns(!runs)}>
          Let lines arrive
        </Button>
      </div>
      <LogView
        label="Log of github"
        height={200}
        lines={Array.from({ length: count }, (_, at) => ({
          key: at,
          time: `14:02:${String(at % 60).padStart(2, "0")}`,
          text: LINES[at % LINES.length] ?? "",
          ...(at % 5 === 4 ? { level: "error" as const } : at % 5 === 2 ? { level: "warn" as const } : {}),
        }))}
      />
      <LogView label="Log of memory" height={64} lines={[]} />
    </State>
  );
}
