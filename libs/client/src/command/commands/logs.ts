import type { Client } from "../../client.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { clockTime } from "../listen/line-view.ts";
import { printable } from "../output.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A subscription of the graph: its fields, and the line of a message. */
interface Source {
  readonly fields: string;
  readonly line: (message: Fields) => readonly unknown[];
}

const sources: Readonly<Record<string, Source>> = {
  deliveryAttempted: {
    fields: "deliveryId endpointId eventType number outcome status error durationMs",
    line: ({ outcome, status, error, durationMs, eventType, deliveryId, number }) => [
      ...["delivery", outcome, status ?? error, `${durationMs} ms`, eventType, deliveryId],
      Number(number) > 1 && `attempt ${number}`,
    ],
  },
  webhookReceived: {
    fields: "deliveryId eventType replayed receivedWebhook { id }",
    line: ({ eventType, receivedWebhook, replayed }) => [
      ...["received", replayed ? "published again" : "accepted", eventType, (receivedWebhook as Fields | null)?.id],
    ],
  },
  webhookRejected: {
    fields: "rejectionId reason status bodyBytes source { id }",
    line: ({ status, reason, rejectionId, source }) => [
      ...["received", "refused", status, reason, (source as Fields | null)?.id, rejectionId],
    ],
  },
};

/** Prints deliveries to endpoints and webhooks of partners as they come, until it is stopped. */
export async function run(context: Context): Promise<void> {
  const { client } = await connect(context);
  const signal = context.stopping();
  context.output.note("Waiting for deliveries and received webhooks. Press Ctrl-C to stop.");
  await Promise.all(Object.entries(sources).map(([name, source]) => follow(context, client, { name, source, signal })));
}

async function follow(
  { output, nowMs }: Context,
  client: Client,
  { name, source, signal }: { readonly name: string; readonly source: Source; readonly signal: AbortSignal },
): Promise<void> {
  const query = `subscription { ${name} { ${source.fields} } }`;
  for await (const { data } of client.subscribe<Readonly<Record<string, Fields>>>(query, { signal })) {
    const message = data[name] ?? {};
    output.item({ at: new Date(nowMs()).toISOString(), kind: name, ...message });
    output.line(`${clockTime(nowMs())}  ${printable(source.line(message).filter(Boolean).join("  "))}`);
  }
}
