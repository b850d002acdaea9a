import { hours, MiB, seconds } from "@signalbox/core";
import { z } from "zod";
import type { ListedWebhook, SenderHistory } from "./sender-history.ts";
import { parsed, requestSender } from "./sender-requests.ts";

/** An event is large only where its object is: fifty of a hundred kilobytes fit. */
const perPage = 50;
const pageBytesMax = 8 * MiB;

const List = z.object({
  has_more: z.boolean(),
  data: z.array(
    z.looseObject({
      id: z.string().min(1),
      type: z.string(),
      created: z.number(),
    }),
  ),
});

/** Events of thirty days that some endpoint has not taken yet. The event itself is the body of its webhook. */
export const stripeHistory: SenderHistory = {
  keepsMs: hours(30 * 24),
  // A sandbox allows 25 requests in a second, live mode four times as many. Two steps may meet in one second.
  pace: { requests: 12, perMs: seconds(1) },
  async list(service, { apiUrl, key }, { fromAt, toAt }, position) {
    const query = new URLSearchParams({
      limit: String(perPage),
      delivery_success: "false",
      "created[gte]": String(Math.floor(fromAt.getTime() / 1_000)),
      "created[lt]": String(Math.ceil(toAt.getTime() / 1_000)),
    });
    if (position !== null) query.set("starting_after", position);
    const answer = await requestSender(service, {
      sender: "stripe",
      url: `${apiUrl}/v1/events?${query}`,
      headers: { accept: "application/json", authorization: `Bearer ${key}` },
      responseBytesMax: pageBytesMax,
    });
    return parsed(answer, (json) => {
      const { data, has_more } = List.parse(json);
      return { webhooks: data.map(listedOf), next: has_more ? (data.at(-1)?.id ?? null) : null };
    });
  },
};

/** Written as Stripe writes a webhook, each number with its digits. */
const listedOf = (event: z.output<typeof List>["data"][number]): ListedWebhook => ({
  reference: event.id,
  deliveryId: event.id,
  eventType: event.type,
  sentAt: new Date(seconds(event.created)),
  copy: { headers: { "content-type": "application/json" }, bodies: [Buffer.from(JSON.stringify(event, null, 2))] },
});
