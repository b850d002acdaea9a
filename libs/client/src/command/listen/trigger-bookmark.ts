import { dataOf } from "../../answers.ts";
import type { Connection, Context } from "../context.ts";
import { Failure, UsageError } from "../failures.ts";
import { forward, isSuccess, type Receiver } from "./forward.ts";

/** A webhook that is kept under a name, with the headers that are not masked. */
interface Bookmark {
  readonly name: string;
  readonly eventType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const masked = "******";
const timeoutMs = 30_000;

/** Reads a bookmark of the account. A signature was masked when it was kept, so it has none. */
export async function readBookmark({ client, send }: Connection, name: string): Promise<Bookmark> {
  const found = await dataOf(client.GET("/api/v1/webhooks/bookmarks/{name}", { params: { path: { name } } }));
  const answer = await send(`/api/v1/webhooks/bookmarks/${encodeURIComponent(name)}/body`);
  if (!answer.ok) throw new Failure(`The body of the bookmark ${name} cannot be read: ${answer.status}.`);
  const headers = Object.entries(found.headers).map(([header, value]) => [header, [value].flat().join(", ")] as const);
  return {
    name,
    eventType: found.event_type,
    headers: Object.fromEntries(headers.filter(([, value]) => !value.includes(masked))),
    body: Buffer.from(await answer.arrayBuffer()),
  };
}

/** Posts a bookmark to a receiver as its sender did: the same bytes and headers, without the signature. */
export async function sendBookmark(
  { output, nowMs }: Context,
  { name, headers, body }: Bookmark,
  receiver: Receiver,
  options: { readonly "dry-run": boolean },
): Promise<void> {
  const { url } = receiver;
  const message = { headers, body: body.toString("base64"), body_encoding: "base64" as const };
  if (options["dry-run"]) {
    output.line(`Would post the bookmark ${name} to ${url.href}, ${body.length} bytes.`);
    return output.document({ url: url.href, ...message });
  }
  const answer = await forward(receiver, message, { timeoutMs, nowMs });
  const { status, error, ms } = answer;
  output.line(`Posted the bookmark ${name} to ${url.href}: ${status ?? error} after ${Math.round(ms)} ms.`);
  output.document({ url: url.href, status, error, ms, body: answer.body });
  if (!isSuccess(answer)) throw new Failure("The receiver did not accept it.");
}

/** Returns the type under which a bookmark is published. */
export function typeOfBookmark({ name, eventType }: Bookmark): string {
  if (eventType !== null) return eventType;
  throw new UsageError(`The bookmark ${name} has no type; name one with --as, such as --as order.created.`);
}

/** Returns the body as JSON for an event. */
export function objectOfBookmark({ name, body }: Bookmark): string {
  const text = body.toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Falls through to the same refusal.
  }
  throw new UsageError(`The bookmark ${name} is not a JSON object, so it cannot be published; send it with --forward.`);
}
