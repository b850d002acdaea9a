import { openAsBlob } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { ApiError } from "../../answers.ts";
import { connect } from "../connect.ts";
import type { Connection, Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { parseExactly, textOf } from "../exact-json.ts";
import { redirectOf } from "../exchange.ts";
import { exitCodeOf, Failure, UsageError } from "../failures.ts";
import { printableJson, printableLines } from "../output.ts";

interface ApiOptions {
  readonly field: readonly string[];
  readonly "raw-field": readonly string[];
  readonly header: readonly string[];
  readonly input: string | undefined;
  readonly include: boolean;
  readonly paginate: boolean;
  readonly timeout: string | undefined;
  readonly "dry-run": boolean;
}

/** A request as `fetch` takes it. */
interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | FormData | Uint8Array<ArrayBuffer> | null;
}

/** Sends one request, or one for each page of a list. */
export async function run(context: Context, { args, options }: Input<ApiOptions>): Promise<void> {
  const request = await requestOf(context, args, options);
  if (options["dry-run"]) return show(context, request);
  const connection = await connect(context);
  const timeoutMs = secondsOf(options.timeout ?? "30") * 1_000;
  if (options.paginate) return printPages(context, connection, request, timeoutMs);
  await printAnswer(context, await send(connection, request, timeoutMs), options);
}

function secondsOf(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError("--timeout must be a whole number of seconds from 1 to 9999.");
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

async function requestOf(context: Context, args: readonly string[], options: ApiOptions): Promise<ApiRequest> {
  const [given = "", named] = args[1] === undefined ? [args[0]] : [args[1], args[0]?.toUpperCase()];
  const path = given.startsWith("/") ? given : `/${given}`;
  if (path === "/" || path.startsWith("//") || methods.includes(given) || given.includes("://"))
    throw new UsageError("Name the path of a route, such as: signalbox api GET /images");
  if (named !== undefined && !methods.includes(named))
    throw new UsageError(`Method ${named}: use ${methods.join(", ")}.`);
  const fields = await fieldsOf(context, options);
  const isSending = fields.length > 0 || options.input !== undefined;
  const method = named ?? (isSending && !options.paginate ? "POST" : "GET");
  const headers = headersOf(options.header);
  if (options.input !== undefined) {
    if (method === "GET" || method === "HEAD")
      throw new UsageError(`--input is a body, which ${method} cannot have: use POST, PUT, PATCH or DELETE.`);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    const source = options.input.replace(/^@/, "");
    const body = new Uint8Array(source === "-" ? await buffer(context.stdin) : await bytesOf(source));
    return { method, path: withQuery(path, fields), headers, body };
  }
  if (method === "GET" || method === "HEAD") return { method, path: withQuery(path, fields), headers, body: null };
  const body = fields.length === 0 ? null : bodyOf(fields);
  if (typeof body === "string" && !headers.has("content-type")) headers.set("content-type", "application/json");
  return { method, path, headers, body };
}

type Field = readonly [name: string, value: unknown];

async function fieldsOf({ stdin }: Context, options: ApiOptions): Promise<Field[]> {
  const typed = options.field.map(async (given): Promise<Field> => {
    const [name, value] = splitField(given);
    if (value === "@-") return [name, new File([await buffer(stdin)], "stdin")];
    return [name, value.startsWith("@") ? await fileOf(value.slice(1)) : typedValue(value)];
  });
  return [...(await Promise.all(typed)), ...options["raw-field"].map(splitField)];
}

function splitField(given: string): [name: string, value: string] {
  const at = given.indexOf("=");
  if (at < 1) throw new UsageError(`Invalid field "${given}": use name=value.`);
  return [given.slice(0, at), given.slice(at + 1)];
}

const isTyped = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|[[{].*[\]}])$/s;

function typedValue(value: string): unknown {
  if (!isTyped.test(value)) return value;
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
}

async function fileOf(path: string): Promise<File> {
  try {
    // A folder opens as an empty blob that fails when it is sent.
    if ((await stat(path)).isDirectory()) return unreadable(path);
    return new File([await openAsBlob(path)], basename(path));
  } catch {
    return unreadable(path);
  }
}

const bytesOf = (path: string): Promise<Buffer<ArrayBuffer>> => readFile(path).catch(() => unreadable(path));

const unreadable = (path: string): never => {
  throw new UsageError(`The file ${path} cannot be read.`);
};

function headersOf(given: readonly string[]): Headers {
  const headers = new Headers();
  for (const header of given) {
    const at = header.indexOf(":");
    try {
      if (at < 1) throw new TypeError();
      headers.append(header.slice(0, at), header.slice(at + 1).trim());
    } catch {
      throw new UsageError(`Invalid header "${header}": use name: value.`);
    }
  }
  return headers;
}

function withQuery(path: string, fields: readonly Field[]): string {
  if (fields.length === 0) return path;
  const query = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, textOf(value)]));
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** A form when there is a file, otherwise JSON. A name that comes again makes a list. */
function bodyOf(fields: readonly Field[]): string | FormData {
  if (fields.some(([, value]) => value instanceof Blob)) {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value instanceof Blob ? value : textOf(value));
    return form;
  }
  const lists = new Map<string, unknown[]>();
  for (const [name, value] of fields) lists.set(name, [...(lists.get(name) ?? []), value]);
  const members = [...lists].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return JSON.stringify(Object.fromEntries(members));
}

/** Prints what would be sent, without the credential. */
async function show({ output, stdout }: Context, { method, path, headers, body }: ApiRequest): Promise<void> {
  const form = body instanceof FormData ? [...body].map(([name, value]) => [name, formText(value)]) : null;
  const text = form === null ? body && Buffer.from(body as string).toString() : JSON.stringify(form);
  output.document({ method, path, headers: Object.fromEntries(headers), body: text });
  if (output.json) return;
  const lines = [`${method} ${path}`, ...[...headers].map(([name, value]) => `${name}: ${value}`)];
  stdout.write(`${printableLines(lines.join("\n"))}\n`);
  if (text) stdout.write(`\n${printableLines(text)}\n`);
}

const formText = (value: string | File) =>
  typeof value === "string" ? value : `file ${value.name}, ${value.size} bytes`;

const send = (connection: Connection, { path, method, headers, body }: ApiRequest, timeoutMs: number) =>
  connection.send(path, { method, headers, body }, timeoutMs);

/** Prints the answer as it came. @throws ApiError with the exit code of a refusal, once its body is printed */
async function printAnswer({ output, stdout }: Context, response: Response, { include }: ApiOptions): Promise<void> {
  const { status, statusText, headers, body } = response;
  if (include) {
    const lines = [`HTTP ${status} ${statusText}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), "", ""];
    stdout.write(printableLines(lines.join("\n")));
  }
  const redirect = redirectOf(response);
  if (redirect !== null) output.note(redirect);
  if (status >= 400) {
    const text = await response.text();
    if (text !== "" && !output.isTerminal) stdout.write(`${text}\n`);
    throw refusalOf(response, text);
  }
  if (body === null) return;
  if (!output.isTerminal) {
    // A pipe gets the bytes, and waits as long as its reader does.
    return pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), stdout, { end: false });
  }
  const type = headers.get("content-type") ?? "";
  if (!/^text\/|json|xml|yaml/.test(type)) {
    await body.cancel();
    throw new Failure(`The response is ${type}, which would garble the terminal. Send it to a file: … > file`);
  }
  const text = await response.text();
  stdout.write(`${/json/.test(type) && text !== "" ? printableJson(parseExactly(text), 2) : printableLines(text)}\n`);
}

interface Page {
  readonly items?: unknown;
  readonly next_cursor?: string | null;
}

function pageOf(text: string): Page | null {
  try {
    return parseExactly(text) as Page | null;
  } catch {
    return null;
  }
}

function refusalOf(response: Response, text: string): Error {
  try {
    return new ApiError(response, JSON.parse(text));
  } catch {
    return new Failure(`The response was ${response.status} ${response.statusText}.`, exitCodeOf(response.status));
  }
}

/** Prints the items of every page. The filters of the first request go with each cursor. */
async function printPages(
  { stdout }: Context,
  connection: Connection,
  request: ApiRequest,
  timeoutMs: number,
): Promise<void> {
  if (request.method !== "GET") throw new UsageError("--paginate reads a list: use it with GET.");
  for (let path = request.path; ; ) {
    const response = await send(connection, { ...request, path }, timeoutMs);
    const text = await response.text();
    if (!response.ok) throw refusalOf(response, text);
    const page = pageOf(text);
    if (!Array.isArray(page?.items)) throw new Failure(`${request.path} is not a list: its response has no items.`);
    for (const item of page.items) stdout.write(`${printableJson(item)}\n`);
    if (!page.next_cursor) return;
    const next = new URL(request.path, "http://localhost");
    next.searchParams.set("cursor", page.next_cursor);
    path = next.pathname + next.search;
  }
}
