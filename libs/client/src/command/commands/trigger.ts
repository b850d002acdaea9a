import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ApiError, dataOf, idempotencyKey } from "../../answers.ts";
import type { Client } from "../../client.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { parseExactly, repeatedMember } from "../exact-json.ts";
import { Failure, UsageError } from "../failures.ts";
import { type ForwardOptions, receiverOf } from "../listen/forward.ts";
import { objectOfBookmark, readBookmark, sendBookmark, typeOfBookmark } from "../listen/trigger-bookmark.ts";
import { sampleOf } from "../sample-of.ts";

interface TriggerOptions extends ForwardOptions {
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly subject: string | undefined;
  readonly as: string | undefined;
  readonly "dry-run": boolean;
}

const bookmarkPrefix = "bookmark:";

/** Publishes an event of the account's own, with the given data, those of a bookmark, or a sample of its type. */
export async function run(context: Context, { args: [type = ""], options }: Input<TriggerOptions>): Promise<void> {
  const receiver = await receiverOf(options);
  if (!type.startsWith(bookmarkPrefix)) {
    if (receiver !== null || options.as !== undefined)
      throw new UsageError("--forward and --as need a bookmark, such as bookmark:first-order.");
    return publish(context, type, options);
  }
  if (options.data !== undefined) throw new UsageError("A bookmark has its own data; leave out --data.");
  const bookmark = await readBookmark(await connect(context), type.slice(bookmarkPrefix.length));
  if (receiver !== null) return sendBookmark(context, bookmark, receiver, options);
  return publish(context, options.as ?? typeOfBookmark(bookmark), { ...options, data: objectOfBookmark(bookmark) });
}

type Published = Pick<TriggerOptions, "data" | "id" | "subject" | "dry-run">;

async function publish(context: Context, type: string, options: Published): Promise<void> {
  const { output } = context;
  const { client } = await connect(context);
  const text =
    options.data === undefined
      ? JSON.stringify(await sampleData(client, type))
      : await givenData(context, options.data);
  const { id, subject } = options;
  const named = { type, ...(id === undefined ? {} : { id }), ...(subject === undefined ? {} : { subject }) };
  // The service delivers the data byte for byte, so they are not printed again here.
  const body = `${JSON.stringify(named).slice(0, -1)},"data":${text}}`;
  const data = parseExactly(text) as Record<string, unknown>;
  if (options["dry-run"]) {
    output.line(`Would publish ${body}`);
    return output.document({ ...named, data });
  }
  // The key makes a repetition after a lost answer harmless.
  const params = { header: idempotencyKey() };
  const sent = { params, body: { ...named, data }, bodySerializer: () => body };
  const { items } = await dataOf(client.POST("/api/v1/webhooks/events", sent));
  for (const one of items) {
    output.line(`Published ${one.type}, event ${one.id}${one.duplicate ? ", already published before" : ""}.`);
    for (const { pointer, message } of one.warnings) output.note(`Warning: ${pointer || "the data"} ${message}`);
  }
  output.line(`Trace it: signalbox why ${items[0]?.id}`);
  output.document({ items, data });
}

/** Returns the text of the given data. @throws UsageError when it is no JSON object, or one with a repeated member */
async function givenData({ stdin }: Context, given: string): Promise<string> {
  const isStdin = given === "-" || given === "@-";
  const source = isStdin ? await text(stdin) : given.startsWith("@") ? await fileText(given.slice(1)) : given;
  const data = parsed(source);
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new UsageError("--data must be a JSON object, @file or -.");
  }
  const twice = repeatedMember(source);
  if (twice) throw new UsageError(`--data has "${twice.name}" twice in one object, in line ${twice.line}.`);
  return source.trim();
}

const fileText = (path: string): Promise<string> =>
  readFile(path, "utf8").catch(() => {
    throw new UsageError(`The file ${path} cannot be read.`);
  });

function parsed(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

/** Makes data from the schema of a declared type. A type that nobody declared gets none. */
async function sampleData(client: Client, type: string): Promise<Record<string, unknown>> {
  const found = await declaredType(client, type);
  if (found === null) return {};
  if (!found.own) {
    throw new Failure(
      `Signalbox publishes ${type} itself when it happens. Cause it, for example with an upload, or trigger a type of your own.`,
    );
  }
  const sample = found.schema === null ? {} : sampleOf(found.schema);
  return typeof sample === "object" && sample !== null ? (sample as Record<string, unknown>) : {};
}

async function declaredType(client: Client, name: string) {
  try {
    return await dataOf(client.GET("/api/v1/webhooks/event-types/{name}", { params: { path: { name } } }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A key that may only publish sees no types.
    if (error.status === 403) return null;
    if (error.status !== 404) throw error;
  }
  for (let cursor: string | undefined; ; ) {
    const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const page = await dataOf(client.GET("/api/v1/webhooks/event-types", { params: { query } }));
    const found = page.items.find((one) => one.name === name);
    if (found || !page.next_cursor) return found ?? null;
    cursor = page.next_cursor;
  }
}
