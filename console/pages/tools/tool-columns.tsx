/** How a tool is shown on one line: itself, and its state in each namespace that is shown. */
import { Ago } from "../../ago.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { toolsTexts as texts } from "../../texts/tools.ts";
import type { Place } from "./place.ts";
import { PlaceCell } from "./place-cell.tsx";
import { type ToolRowIn, tierOf } from "./tool-row.ts";

const { columns } = texts;
const TIER_SHAPES = { readOnly: "ok", write: "off", destructive: "warn" } as const;

export function toolColumns(places: readonly Place[]): readonly Column<ToolRowIn>[] {
  return [
    {
      id: "tool",
      head: columns.tool,
      mono: true,
      value: ({ server, tool }) => `${server}:${tool.tool}`,
      cell: ({ server, tool }) => (
        <>
          <span class="muted">
            <ForeignText text={`${server}:`} />
          </span>
          <ForeignText text={tool.tool} />
          {tool.changed && (
            <>
              {" "}
              <Status state="warn" word={texts.changed[tool.changed.kind]} />
            </>
          )}
        </>
      ),
    },
    {
      id: "description",
      head: columns.description,
      hideBelow: "large",
      value: ({ tool }) => [tool.title, tool.description].filter(Boolean).join(": "),
    },
    {
      id: "tier",
      head: columns.tier,
      width: "120px",
      hideBelow: "medium",
      value: ({ tool }) => texts.tiers[tierOf(tool)],
      cell: ({ tool }) => <Status state={TIER_SHAPES[tierOf(tool)]} word={texts.tiers[tierOf(tool)]} />,
    },
    {
      id: "tokens",
      head: columns.tokens,
      width: "80px",
      align: "end",
      hideBelow: "small",
      value: ({ tool }) => tool.tokens,
      cell: ({ tool }) => count(tool.tokens),
    },
    {
      id: "used",
      head: columns.used,
      width: "100px",
      hideBelow: "medium",
      value: ({ tool }) => tool.lastUsedAt ?? "",
      cell: ({ tool }) => (tool.lastUsedAt ? <Ago at={tool.lastUsedAt} /> : texts.never),
    },
    ...places.map(
      (place): Column<ToolRowIn> => ({
        id: place.uuid,
        head: place.name,
        named: true,
        width: "150px",
        value: ({ tool }) => tool.in[place.at] ?? "",
        cell: ({ tool }) => <PlaceCell tool={tool} place={place} />,
      }),
    ),
  ];
}
