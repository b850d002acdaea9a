import { hours, MiB, seconds } from "@signalbox/core";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import type { ListedWebhook, SenderAccess, SenderAnswer, SenderHistory, WebhookCopy } from "./sender-history.ts";
import { type ApiAnswer, numberText, parsed, requestSender } from "./sender-requests.ts";

const perPage = 100;
const listBytesMax = 2 * MiB;
/** A payload has 25 MB at most, and ours a mebibyte: a larger one is asked for again and refused as it comes. */
const deliveryBytesMax = 4 * MiB;

const List = z.array(
  z.object({
    id: numberText,
    guid: z.string().min(1),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.number(),
    event: z.string(),
  }),
);
const Delivery = z.object({
  request: z.object({
    headers: z.record(z.string(), z.string()).nullable(),
    payload: z.unknown(),
  }),
});

/** Deliveries of a webhook, which GitHub keeps for three days: each attempt, with the guid of the first one. */
export const githubHistory: SenderHistory = {
  keepsMs: hours(3 * 24),
  // Of the 900 reads in a minute some stay for others.
  pace: { requests: 65, perMs: seconds(5) },
  async list(service, access, { fromAt, toAt }, position) {
    const cursor = position === null ? "" : `&cursor=${encodeURIComponent(position)}`;
    const answer = await requestGithub(service, access, `?per_page=${perPage}${cursor}`, listBytesMax);
    return parsed(answer, (json, { headers }) => {
      const all = List.parse(json);
      const last = all.at(-1);
      const isPast = last === undefined || new Date(last.delivered_at) < fromAt;
      const isWithin = ({ sentAt }: ListedWebhook) => sentAt >= fromAt && sentAt < toAt;
      const failed = all.filter(({ status_code }) => status_code < 200 || status_code > 299).map(listedOf);
      return { webhooks: failed.filter(isWithin), next: isPast ? null : cursorIn(headers.link) };
    });
  },
  async fetch(service, access, reference) {
    const answer = await requestGithub(service, access, `/${reference}`, deliveryBytesMax);
    return orNone(
      parsed(answer, (json) => copyOf(Delivery.parse(json))),
      null,
    );
  },
  async ask(service, access, reference) {
    const answer = await requestGithub(service, access, `/${reference}/attempts`, listBytesMax, "POST");
    return orNone(answer.outcome === "answered" ? { ...answer, value: true } : answer, false);
  },
};

const requestGithub = (
  service: IngestService,
  access: SenderAccess,
  path: string,
  responseBytesMax: number,
  method: "GET" | "POST" = "GET",
): Promise<SenderAnswer<ApiAnswer>> =>
  requestSender(service, {
    sender: "github",
    url: `${access.apiUrl}/${hookOf(access)}/deliveries${path}`,
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${access.key}`,
      "x-github-api-version": "2022-11-28",
    },
    responseBytesMax,
  });

const hookOf = ({ repository, organization, hookId }: SenderAccess): string =>
  repository === null ? `orgs/${organization}/hooks/${hookId}` : `repos/${repository}/hooks/${hookId}`;

const listedOf = ({ id, guid, delivered_at, event }: z.output<typeof List>[number]): ListedWebhook => ({
  reference: id,
  deliveryId: guid,
  eventType: event,
  sentAt: new Date(delivered_at),
  copy: null,
});

/** Returns the cursor of the next page. The rest of the link is not followed: it would carry the key to any host. */
function cursorIn(link: string | string[] | undefined): string | null {
  const next = /<([^>]+)>;\s*rel="next"/.exec(String(link ?? ""))?.[1];
  return next && URL.canParse(next) ? new URL(next).searchParams.get("cursor") : null;
}

/** Returns the bytes that GitHub may have signed: compact JSON, or a form. Where none verifies, it is asked again. */
function copyOf({ request: { headers, payload } }: z.output<typeof Delivery>): WebhookCopy {
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const json = typeof payload === "string" ? payload : JSON.stringify(payload ?? null);
  const texts = [json, new URLSearchParams({ payload: json }).toString()];
  return { headers: Object.fromEntries(own), bodies: texts.map((text) => Buffer.from(text)) };
}

/** A delivery that is gone, or cannot be sent again, says nothing about the key. */
function orNone<Value>(answer: SenderAnswer<Value>, none: Value): SenderAnswer<Value> {
  const isGone = answer.outcome === "refused" && answer.reason === "not_found";
  const isRefused = answer.outcome === "away" && /^answered_4/.test(answer.reason);
  return isGone || isRefused ? { outcome: "answered", value: none, waitUntil: null } : answer;
}
