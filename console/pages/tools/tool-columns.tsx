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

/** More would leave no room for the rest. */
const MOST_COLUMNS = 3;

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
      hideBelow: "medium",
      value: ({ tool }) => [tool.title, tool.description].filter(Boolean).join(": "),
    },
    {
      id: "tier",
      head: columns.tier,
      width: "120px",
      value: ({ tool }) => texts.tiers[tierOf(tool.annotations)],
      cell: ({ tool }) => <Tier tier={tierOf(tool.annotations)} />,
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
      hideBelow: "large",
      value: ({ tool }) => tool.lastUsedAt ?? "",
      cell: ({ tool }) => (tool.lastUsedAt ? <Ago at={tool.lastUsedAt} /> : texts.never),
    },
    ...(places.length <= MOST_COLUMNS ? places.map(placeColumn) : [placesColumn(places)]),
  ];
}

function Tier({ tier }: { readonly tier: ReturnType<typeof tierOf> }) {
  const word = texts.tiers[tier];
  return tier === "destructive" ? <Status state="warn" word={word} /> : <span>{word}</span>;
}

function placeColumn(place: Place): Column<ToolRowIn> {
  return {
    id: place.uuid,
    head: place.name,
    named: true,
    width: "130px",
    value: ({ tool }) => tool.in[place.at] ?? "",
    cell: ({ tool }) => <PlaceCell tool={tool} place={place} />,
  };
}

/** Where there are too many for a column each: the names of those that offer the tool. */
function placesColumn(places: readonly Place[]): Column<ToolRowIn> {
  const offering = ({ tool }: ToolRowIn) =>
    places
      .filter(({ at }) => tool.in[at] === "on")
      .map(({ name }) => name)
      .join(", ");
  return {
    id: "places",
    head: columns.places,
    width: "22%",
    mono: true,
    value: offering,
    cell: (row) =>
      offering(row) ? <ForeignText text={offering(row)} /> : <span class="faint">{texts.nowhere}</span>,
  };
}
