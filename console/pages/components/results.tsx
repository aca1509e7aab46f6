/** Samples: tool results. */
import { ResultView } from "../../components/result-view.tsx";
import { HOSTILE } from "./hostile.ts";
import { State } from "./state.tsx";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAYAAABzenr0AAAAMklEQVR42u3OMQEAAAwCoNk/tCn2AQmYuwQREREREREREREREREREREREREREREREZGPB9zeAAGnEyKsAAAAAElFTkSuQmCC";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const json = (value: unknown) => JSON.stringify(value);

export function Results() {
  return (
    <>
      <State name="Text, long text, hostile text">
        <ResultView
          raw={json({
            content: [
              { type: "text", text: `# Issues\n\n- **first** one\n- ${HOSTILE}` },
              { type: "text", text: "A line of a long answer, as models write them.\n".repeat(80) },
            ],
          })}
        />
      </State>
      <State name="A list of flat objects">
        <ResultView
          raw={json({
            content: [],
            structuredContent: [
              { id: 1, title: "Crash on start", state: "open", comments: 12 },
              { id: 2, title: "Typo", state: "closed", comments: 0 },
              { id: 3, title: HOSTILE, state: "open", comments: 3 },
            ],
          })}
        />
      </State>
      <State name="Structured result, image, audio, links, file">
        <ResultView
          raw={json({
            content: [
              { type: "image", mimeType: "image/png", data: PIXEL },
              { type: "audio", mimeType: "audio/wav", data: SILENCE },
              {
                type: "resource_link",
                uri: "https://example.com/report",
                name: "Report",
                description: "Of this week.",
              },
              { type: "resource_link", uri: "javascript:alert(1)", name: "Not a link" },
              {
                type: "resource",
                resource: { uri: "file:///tmp/report.zip", blob: "UEsDBA==", mimeType: "application/zip" },
              },
            ],
            structuredContent: { found: 2, pages: { next: null } },
          })}
        />
      </State>
    </>
  );
}

export function Failures() {
  return (
    <>
      <State name="Refused by the gateway">
        <ResultView
          raw={json({
            isError: true,
            content: [{ type: "text", text: "The arguments do not fit." }],
            structuredContent: {
              error: {
                code: "validation_input",
                message: "The arguments do not fit search_issues: owner must be string.",
                retryable: false,
                details: {
                  problems: ["owner must be string", "the arguments must have required property 'query'"],
                },
              },
            },
          })}
        />
      </State>
      <State name="Rate limit, and an error of the tool">
        <ResultView
          raw={json({
            isError: true,
            content: [],
            structuredContent: {
              error: {
                code: "rate_limited",
                message: "Too many calls of this key.",
                retryable: true,
                retryAfterMs: 2100,
              },
            },
          })}
        />
        <ResultView
          raw={json({ isError: true, content: [{ type: "text", text: `No such repository.\n${HOSTILE}` }] })}
        />
      </State>
      <State name="Empty">
        <ResultView raw={json({ content: [] })} />
      </State>
    </>
  );
}
