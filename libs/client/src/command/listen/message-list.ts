import { parseExactly } from "../exact-json.ts";
import { cut, type Output, printable, printableJson, printableLines } from "../output.ts";
import { bytesOf, isSuccess } from "./forward.ts";
import { answerWords, clockTime } from "./line-view.ts";
import type { LocalAttempt } from "./listener.ts";
import type { Settled } from "./settle.ts";

/** A message with its newest attempt. */
interface Row {
  readonly attempt: LocalAttempt;
  readonly settled: Settled | null;
}

/** The state of the list on a terminal: the newest message first, one of them selected. */
export interface MessageList {
  readonly rows: readonly Row[];
  /** Selected delivery; null follows the newest. */
  readonly selected: string | null;
  /** First line of the details of the selected message; null while the list is shown. */
  readonly detailsFrom: number | null;
  /** Outcome of the last key. */
  readonly notice: string;
}

export const emptyList: MessageList = { rows: [], selected: null, detailsFrom: null, notice: "" };

const rowsMax = 1_000;
const idOf = ({ attempt }: Row): string => attempt.message.delivery_id;

/** Adds an attempt. That of a known message replaces its earlier one, in the same place. */
export function withAttempt(list: MessageList, attempt: LocalAttempt): MessageList {
  const row = { attempt, settled: null };
  const at = list.rows.findIndex((one) => idOf(one) === idOf(row));
  return { ...list, rows: at < 0 ? [row, ...list.rows].slice(0, rowsMax) : list.rows.with(at, row) };
}

export function withSettled(list: MessageList, attempt: LocalAttempt, settled: Settled): MessageList {
  const at = list.rows.findIndex((row) => row.attempt === attempt);
  return at < 0 ? list : { ...list, rows: list.rows.with(at, { attempt, settled }) };
}

/** Returns the selected row; null while the list is empty. */
export const selectedRow = (list: MessageList): Row | null => list.rows[indexOf(list)] ?? null;

const indexOf = ({ rows, selected }: MessageList): number =>
  selected === null
    ? 0
    : Math.max(
        rows.findIndex((row) => idOf(row) === selected),
        0,
      );

const steps: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

/** Applies a key that moves in the list or in the details; others change nothing. */
export function withKey(list: MessageList, key: string): MessageList {
  const { rows, detailsFrom } = list;
  const step = steps[key];
  if (step !== undefined) {
    if (detailsFrom !== null) return { ...list, detailsFrom: Math.min(Math.max(detailsFrom + step, 0), 100_000) };
    const at = Math.min(Math.max(indexOf(list) + step, 0), rows.length - 1);
    const row = rows[at];
    // At the top the list follows what comes.
    return { ...list, notice: "", selected: at <= 0 || row === undefined ? null : idOf(row) };
  }
  const row = selectedRow(list);
  if ((key === "d" || key === "return") && detailsFrom === null && row !== null) {
    return { ...list, detailsFrom: 0, selected: idOf(row), notice: "" };
  }
  return ["d", "return", "escape"].includes(key) ? { ...list, detailsFrom: null } : list;
}

interface Frame {
  readonly title: string;
  /** The line below the title. */
  readonly secret: string;
  readonly columns: number;
  readonly lines: number;
  readonly style: Output["style"];
}

const keysOfList = "↑↓ select   r again   d details   o open in the console   q quit";
const keysOfDetails = "↑↓ scroll   r again   d back   o open in the console   q quit";

/** Returns the lines of the terminal, each within its columns. */
export function renderList(list: MessageList, { title, secret, columns, lines, style }: Frame): string[] {
  const room = Math.max(lines - 4, 1);
  const body = list.detailsFrom === null ? listLines(list, room, { columns, style }) : detailLines(list, room, columns);
  const padded = [...body, ...Array.from({ length: room - body.length }, () => "")];
  const foot = list.detailsFrom === null ? keysOfList : keysOfDetails;
  return [
    style("bold", cut(printable(title), columns)),
    // On a line of its own it fits into 80 columns.
    style("dim", cut(printable(secret), columns)),
    ...padded,
    cut(printable(list.notice), columns),
    style("dim", cut(foot, columns)),
  ];
}

function listLines(list: MessageList, room: number, { columns, style }: Pick<Frame, "columns" | "style">): string[] {
  if (list.rows.length === 0) return ["Waiting for events …"];
  const selected = indexOf(list);
  const first = Math.max(0, Math.min(selected - room + 1, list.rows.length - room));
  return list.rows.slice(first, first + room).map((row, index) => {
    const { message, atMs, answer } = row.attempt;
    const again = message.attempt > 1 ? `attempt ${message.attempt}` : "";
    const text = [clockTime(atMs), answerWords(answer), message.type, message.delivery_id, again, nextOf(row)];
    const isSelected = first + index === selected;
    const line = cut(`${isSelected ? "▸" : " "} ${printable(text.filter(Boolean).join("  "))}`, columns);
    const coloured = isSuccess(answer) ? line : style("red", line);
    return isSelected ? style("inverse", coloured) : coloured;
  });
}

/** Says what follows a failure. */
function nextOf({ attempt, settled }: Row): string {
  if (settled === null || isSuccess(attempt.answer)) return "";
  const { nextAttemptAt, decision } = settled;
  return nextAttemptAt === null ? decision : `again at ${clockTime(Date.parse(nextAttemptAt))}`;
}

function detailLines(list: MessageList, room: number, columns: number): string[] {
  const row = selectedRow(list);
  if (row === null) return [];
  const { message, answer } = row.attempt;
  const { headers, body, body_encoding: encoding } = message;
  const text = [
    `${message.type}   event ${message.event_id}   delivery ${message.delivery_id}   attempt ${message.attempt}`,
    `Response: ${answerWords(answer)}   ${nextOf(row)}`,
    ...(answer.body === "" ? [] : printableLines(answer.body).split("\n")),
    "",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    ...bodyLines(encoding === "utf8" ? body : `${bytesOf(message).length} bytes of binary data`),
  ].map((line) => cut(printable(line), columns));
  return text.slice(Math.min(list.detailsFrom ?? 0, Math.max(text.length - room, 0))).slice(0, room);
}

/** Longer bodies are shown as they came: indenting them for each frame would take too long. */
const indentedCharactersMax = 100_000;

function bodyLines(body: string): string[] {
  if (body.length > indentedCharactersMax) return [`${body.slice(0, indentedCharactersMax)}…`];
  try {
    return printableJson(parseExactly(body), 2).split("\n");
  } catch {
    return printableLines(body).split("\n");
  }
}
