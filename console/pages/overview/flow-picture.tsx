/**
 * The picture of who calls what: clients, endpoints, namespaces, servers; the width of a ribbon is its number
 * of calls. Every ribbon and node is a link. The same is below as a table.
 */
import type { Usage } from "../../api/types.ts";
import { useWidth } from "../../components/chart/use-width.ts";
import { componentTexts } from "../../texts/components.ts";
import { usageTexts } from "../../texts/usage.ts";
import {
  FLOW_COLUMNS,
  type FlowColumn,
  type FlowNode,
  type FlowSpace,
  flowLayout,
  type Ribbon,
  ribbonPath,
} from "./flow-layout.ts";
import { labelOf, linkOf, namesIn, pathsOf } from "./flow-names.ts";
import "./flow-picture.css";

const texts = usageTexts.flow;
const NODE = 10;
/** Room for the names of the columns. */
const HEAD = 24;
const NARROW: readonly FlowColumn[] = ["client", "server"];

export function FlowPicture({ usage }: { readonly usage: Usage }) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const narrow = width < 620;
  const columns = narrow ? NARROW : FLOW_COLUMNS;
  const space = spaceIn(width, columns);
  const { nodes, ribbons, height } = flowLayout(pathsOf(usage), space);
  const names = namesIn(usage);
  return (
    <div ref={ref} class="who-calls">
      {width > 0 && (
        <svg {...{ role: "group" }} aria-label={texts.label} width={width} height={height + HEAD + 8}>
          <title>{texts.label}</title>
          {columns.map((column, at) => (
            <Head key={column} column={column} x={space.xs[at] ?? 0} first={at === 0} narrow={narrow} />
          ))}
          <g transform={`translate(0 ${HEAD})`}>
            {ribbons.map((ribbon) => (
              <RibbonLink key={keyOf(ribbon)} ribbon={ribbon} usage={usage} names={names} />
            ))}
            {nodes.map((node) => (
              <NodeLink
                key={`${node.column} ${node.id}`}
                node={node}
                usage={usage}
                names={names}
                left={node.column === "client" && !narrow}
                inward={narrow && node.column === "server"}
              />
            ))}
          </g>
        </svg>
      )}
    </div>
  );
}

interface HeadProps {
  readonly column: FlowColumn;
  readonly x: number;
  readonly first: boolean;
  readonly narrow: boolean;
}

/** On the side of the labels of its nodes. */
function Head({ column, x, first, narrow }: HeadProps) {
  const right = first !== narrow;
  return (
    <text class="flow-head" x={right ? x + NODE : x} y="12" text-anchor={right ? "end" : "start"}>
      {texts.columns[column]}
    </text>
  );
}

function spaceIn(width: number, columns: readonly FlowColumn[]): FlowSpace {
  const narrow = columns.length === 2;
  const left = narrow ? 0 : Math.min(170, width * 0.15);
  const right = narrow ? 0 : Math.min(170, width * 0.16);
  const across = Math.max(0, width - left - right - NODE);
  return {
    columns,
    xs: columns.map((_, at) => left + (across * at) / (columns.length - 1)),
    height: 240,
    label: narrow ? 34 : 30,
    most: narrow ? 9 : 12,
  };
}

interface PartProps {
  readonly usage: Usage;
  readonly names: ReturnType<typeof namesIn>;
}

function RibbonLink({ ribbon, usage, names }: PartProps & { readonly ribbon: Ribbon }) {
  const { from, to, calls, errors, refused, width } = ribbon;
  const share = (part: number): number => (width * part) / calls;
  const parts = [
    { kind: "answered", at: 0, width: share(calls - errors - refused) },
    { kind: "refused", at: share(calls - errors - refused), width: share(refused) },
    { kind: "failed", at: share(calls - errors), width: share(errors) },
  ].filter((part) => part.width > 0);
  const said = `${labelOf(from, names)} → ${labelOf(to, names)}: ${componentTexts.chart.calls(calls, errors, refused)}`;
  return (
    <a href={linkOf([from, to], usage, names)} class="flow-ribbon" aria-label={said}>
      <title>{said}</title>
      {parts.map((part) => (
        <path
          key={part.kind}
          class={`flow-${part.kind}`}
          // A part that is thinner than a pixel could not be seen.
          d={ribbonPath(ribbon, NODE, { at: part.at, width: Math.max(1, part.width) })}
        />
      ))}
    </a>
  );
}

interface NodeProps extends PartProps {
  readonly node: FlowNode;
  /** The label is on the left. */
  readonly left: boolean;
  /** The label is on the left, over the ribbons. */
  readonly inward: boolean;
}

function NodeLink({ node, usage, names, left, inward }: NodeProps) {
  const { x, y, height, calls, errors, refused } = node;
  const name = labelOf(node, names);
  const shown = name.length > 22 ? `${name.slice(0, 21)}…` : name;
  const counted = texts.count(calls, errors + refused);
  const atLeft = left || inward;
  const textX = atLeft ? x - 6 : x + NODE + 6;
  const middle = y + height / 2;
  return (
    <a
      href={linkOf([node], usage, names)}
      class="flow-node"
      aria-label={`${texts.one[node.column]} ${shown}: ${counted}`}
    >
      <rect x={x} y={y} width={NODE} height={Math.max(2, height)} rx="2" />
      <text x={textX} y={middle - 1} text-anchor={atLeft ? "end" : "start"} class="flow-name">
        {/* The space separates name and number for screen readers. */}
        {`${shown} `}
      </text>
      <text x={textX} y={middle + 13} text-anchor={atLeft ? "end" : "start"} class="flow-count">
        {counted}
      </text>
    </a>
  );
}

function keyOf({ from, to }: Ribbon): string {
  return JSON.stringify([from.column, from.id, to.id]);
}
