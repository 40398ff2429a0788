import type { Contract, Source } from "../../openapi/document/contract.ts";
import type { Rendering, Site } from "./rendering.ts";

/** A transition of `x-transitions`; `from` is null for the status that a record starts in. */
export type Transition = {
  readonly from: string | null;
  readonly to: string;
  readonly trigger: string;
  readonly when: string;
};

/* As wide as a phone shows without scrolling: the page drops the viewBox, so it is never scaled. */
const WIDTH = 320;
const BOX = { x: 62, width: 140, height: 44, gap: 84, top: 24 } as const;
const TRUNK_X = 8;
const COLUMN_X = 296;

/**
 * Draws states one below the other in the order of `states`: the starts of a record at the left, transitions to the next
 * state between the boxes, all others in columns at the right. Transitions are numbered as in the table below the drawing. It
 * uses the colour of the surrounding text, so that it is readable in light and dark.
 */
export function drawStates(states: readonly string[], transitions: readonly Transition[]): string {
  const rowOf = (state: string) => {
    const row = states.indexOf(state);
    if (row < 0) throw new Error(`A transition names ${state}, which is no state.`);
    return row;
  };
  const edges = toEdges(transitions);
  const starts = edges.filter(({ from }) => from === null);
  const steps = edges.filter(({ from, to }) => from !== null && rowOf(to) === rowOf(from) + 1);
  const others = edges.filter((edge) => edge.from !== null && !steps.includes(edge));
  const height = BOX.top + states.length * BOX.height + (states.length - 1) * BOX.gap + 16;
  const parts = [
    drawTrunk(starts.map(({ to }) => rowOf(to))),
    ...starts.map((edge) => drawStart(edge, rowOf(edge.to))),
    ...steps.map((edge) => drawStep(edge, rowOf(edge.to))),
    ...others.map((edge, lane) => drawLane(edge, rowOf(edge.from ?? ""), rowOf(edge.to), lane)),
    ...states.map((state, row) => drawBox(state, row)),
  ];
  return [
    `<svg class="states" role="img" aria-label="${describeTransitions(transitions)}" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" xmlns="http://www.w3.org/2000/svg">`,
    '<g fill="none" stroke="currentColor" stroke-width="1.3" font-family="sans-serif" font-size="12">',
    ...parts,
    "</g>",
    "</svg>",
  ].join("\n");
}

/** The diagram in words. */
export function describeTransitions(transitions: readonly Transition[]): string {
  const said = toEdges(transitions).map(
    ({ from, to, labels }) =>
      `${from === null ? "A refund starts as" : `${from} becomes`} ${to} (${labels.join(", ")})`,
  );
  return `States of a refund. ${said.join(". ")}.`;
}

type Edge = { readonly from: string | null; readonly to: string; readonly labels: readonly string[] };

/** Labels for triggers whose names in the contract are unclear in a picture. */
const LABELS: Readonly<Record<string, string>> = { time: "3 business days passed" };

/** Transitions between the same two states are one arrow with several labels. */
function toEdges(transitions: readonly Transition[]): Edge[] {
  const edges = new Map<string, Edge>();
  for (const [index, { from, to, trigger }] of transitions.entries()) {
    const key = `${from} ${to}`;
    const label = `${index + 1}: ${LABELS[trigger] ?? trigger.replaceAll("-", " ")}`;
    const labels = [...(edges.get(key)?.labels ?? []), label];
    edges.set(key, { from, to, labels });
  }
  return [...edges.values()];
}

function topOf(row: number): number {
  return BOX.top + row * (BOX.height + BOX.gap);
}

function middleOf(row: number): number {
  return topOf(row) + BOX.height / 2;
}

function drawBox(state: string, row: number): string {
  const center = BOX.x + BOX.width / 2;
  const colour = state.toLowerCase().replace("_", "-");
  return `<g class="${colour}"><rect class="state" x="${BOX.x}" y="${topOf(row)}" width="${BOX.width}" height="${BOX.height}" rx="8"/>${drawText(state, center, middleOf(row) + 5, "middle", ' font-weight="600"')}</g>`;
}

/** One line from the start down to the last state that a record can start in. */
function drawTrunk(rows: readonly number[]): string {
  const bottom = middleOf(Math.max(...rows));
  return `<circle cx="${TRUNK_X}" cy="${middleOf(0)}" r="6" fill="currentColor"/><path d="M${TRUNK_X} ${middleOf(0)}V${bottom}"/>`;
}

function drawStart({ labels }: Edge, row: number): string {
  const y = middleOf(row);
  return (
    drawArrow(`M${TRUNK_X} ${y}H${BOX.x}`, BOX.x, y, "right") +
    drawLabels(labels, (TRUNK_X + BOX.x) / 2, y - 7, "middle")
  );
}

function drawStep({ labels }: Edge, row: number): string {
  const x = BOX.x + 32;
  const bottom = topOf(row);
  return (
    drawArrow(`M${x} ${bottom - BOX.gap}V${bottom}`, x, bottom, "down") +
    drawLabels(labels, x + 10, bottom - BOX.gap / 2 + 4, "start", labels.length)
  );
}

function drawLane({ labels }: Edge, from: number, to: number, lane: number): string {
  const x = COLUMN_X + lane * 20;
  const right = BOX.x + BOX.width;
  const path = `M${right} ${middleOf(from)}H${x}V${middleOf(to)}H${right}`;
  return (
    drawArrow(path, right, middleOf(to), "left") + drawLabels(labels, right + 8, middleOf(from) - 8, "start")
  );
}

const HEADS = { right: "l-9 -5v10z", left: "l9 -5v10z", down: "l-5 -9h10z" } as const;

/** A line with an arrowhead. The page drops markers, so the arrowhead is a path of its own. */
function drawArrow(path: string, x: number, y: number, towards: keyof typeof HEADS): string {
  return `<path d="${path}"/><path d="M${x} ${y}${HEADS[towards]}" fill="currentColor"/>`;
}

/** Lines of text that end above `y`, or that are centred on it when `around` says how many there are. */
function drawLabels(labels: readonly string[], x: number, y: number, anchor: string, around = 0): string {
  const bottom = around > 0 ? y + ((around - 1) * 16) / 2 : y;
  const top = bottom - (labels.length - 1) * 16;
  return labels.map((label, line) => drawText(label, x, top + line * 16, anchor)).join("");
}

function drawText(text: string, x: number, y: number, anchor: string, more = ""): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="currentColor" stroke="none"${more}>${text}</text>`;
}

type SourcedTransition = Transition & { readonly source: readonly Source[] };
type StatusSchema = {
  readonly enum: readonly string[];
  readonly "x-transitions": readonly SourcedTransition[];
};

/** The drawing of a refund's states, and below it the table of transitions, which says the same in words. */
export function renderStates(schema: StatusSchema, { drawings, badges }: Rendering): string {
  const transitions = schema["x-transitions"];
  const rows = transitions.map(
    ({ from, to, when, source }, index) =>
      `| ${index + 1} | ${from === null ? "" : `\`${from}\` `}→ \`${to}\` | ${when} ${badges(source)} |`,
  );
  const picture =
    drawings === "inline" ? drawStates(schema.enum, transitions) : "![The states of a refund](states.svg)";
  return [picture, "", "| # | transition | when |", "|---|---|---|", ...rows].join("\n");
}

/** The drawing as a file of its own, which follows the reader's preferred colour scheme. */
export function drawStatesFile({ published }: Site): string {
  const { enum: states, "x-transitions": transitions } = statusSchemaOf(published.document);
  const style =
    "<style>svg { color: #1a1c21; background: #fff } @media (prefers-color-scheme: dark) { svg { color: #eee; background: #16181d } }</style>";
  return drawStates(states, transitions).replace(/^(<svg[^>]*>)/, `$1${style}`);
}

/** The schema of a refund's status. */
export function statusSchemaOf(document: Contract["document"]): StatusSchema {
  const { schemas } = document.components as { schemas: { RefundStatus: StatusSchema } };
  return schemas.RefundStatus;
}
