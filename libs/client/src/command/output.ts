/** Anything that text is written to: a terminal, a pipe or a file. */
export interface Sink {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Control characters drive a terminal; format characters and separators reorder, hide or break what a person reads. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes a character as JSON does, so that an escaped document stays the same document. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join("");

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, "0")}`;

/** Returns the text with its control and direction characters visible: a terminal obeys nothing in it. */
export const printable = (text: string): string => text.replace(controls, escaped);

/** Returns the text with its lines kept and everything else as `printable`. */
export const printableLines = (text: string): string => text.split(/\r?\n/).map(printable).join("\n");

/** Serializes a value as JSON whose text moves no terminal. */
export const printableJson = (value: unknown, indent?: number): string =>
  // JSON escapes C0 only. What it writes itself, the line feeds of an indentation, stays.
  JSON.stringify(value, null, indent).replace(controls, (one) => (one === "\n" ? one : escaped(one)));

const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u;
const segments = new Intl.Segmenter();

/** Returns the number of columns that a terminal gives a printable text. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segments.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a printable text to a number of columns, with an ellipsis where something is left out. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of segments.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, inverse: 7 } as const;
export type Style = keyof typeof styles;

type Row = readonly string[];

/** Prints what commands found. Everything that came from outside is made printable here. */
export interface Output {
  readonly json: boolean;
  readonly isTerminal: boolean;
  readonly columns: () => number;
  readonly style: (style: Style, text: string) => string;
  /** A line for people; absent with `--json`. */
  readonly line: (text?: string) => void;
  /** A line of progress or advice, on standard error. */
  readonly note: (text: string) => void;
  /** A table for people; absent with `--json`. The last column is cut to the terminal. */
  readonly table: (
    head: Row | null,
    rows: readonly Row[],
    styleOf?: (row: number, column: number) => Style | null,
  ) => void;
  /** A document; only with `--json`. */
  readonly document: (value: unknown) => void;
  /** One item of a stream, on a line of its own; only with `--json`. */
  readonly item: (value: unknown) => void;
}

interface OutputOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly json: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Creates the output of one call. Colours need a terminal, and `NO_COLOR` or `TERM=dumb` disables them. */
export function createOutput({ stdout, stderr, json, environment }: OutputOptions): Output {
  const isTerminal = stdout.isTTY === true;
  const isPlain = !isTerminal || Boolean(environment.NO_COLOR) || environment.TERM === "dumb";
  const style = (name: Style, text: string) => (isPlain ? text : `\u001b[${styles[name]}m${text}\u001b[0m`);
  const columns = () => stdout.columns || 80;
  return {
    json,
    isTerminal,
    columns,
    style,
    line: (text = "") => void (json || stdout.write(`${text}\n`)),
    note: (text) => void stderr.write(`${printableLines(text)}\n`),
    document: (value) => void (json && stdout.write(`${printableJson(value, 2)}\n`)),
    item: (value) => void (json && stdout.write(`${printableJson(value)}\n`)),
    table(head, rows, styleOf = () => null) {
      if (json) return;
      const shown = [...(head === null ? [] : [head]), ...rows].map((row) => row.map(printable));
      const above = head === null ? 0 : 1;
      const widths = (shown[0] ?? []).map((_, column) => Math.max(...shown.map((row) => widthOf(row[column] ?? ""))));
      for (const [index, row] of shown.entries()) {
        const cells = padded(row, widths, isTerminal ? columns() : Number.POSITIVE_INFINITY);
        const styled = cells.map((cell, column) => {
          const name = index < above ? "dim" : styleOf(index - above, column);
          return name === null ? cell : style(name, cell);
        });
        stdout.write(`${styled.join("  ").trimEnd()}\n`);
      }
    },
  };
}

/** Pads the cells of a row to the widths of their columns, and cuts the last one to what is left of the terminal. */
function padded(row: Row, widths: readonly number[], columns: number): string[] {
  const last = row.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  return row.map((cell, column) => {
    if (column === last) return cut(cell, Math.max(columns - before, 10));
    return cell + " ".repeat((widths[column] ?? 0) - widthOf(cell));
  });
}
