import type { Headers } from "../../audit/world.ts";
import type { ClientRequest } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, refusedAs, succeeds } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";

/** CloudEvents that pretend to be of another account or of the service, or that hide something in a mode or a header. */
export const publishedEvents: Group = {
  name: "published events",
  atOnce: 4,
  rows: async (scenes) => publishedEventRows(await scenes.trusting()),
};

const path = "/api/v1/webhooks/events";
const structured = "application/cloudevents+json";
const batched = "application/cloudevents-batch+json";
const event = { specversion: "1.0", source: "/attacks", type: "order.created", data: {} };
const attributes = { "ce-specversion": "1.0", "ce-source": "/attacks", "ce-type": "order.created" };

async function publishedEventRows({ send, world, person }: TrustingScene): Promise<Attack[]> {
  const { headers } = await person();
  const key = async (...scopes: string[]): Promise<Headers> => ({
    "x-api-key": (await world.send(headers, "/api/account/api-keys/", { body: { name: "narrow", scopes } })).json.key,
  });
  const [publisher, reader] = [await key("events:publish"), await key("webhooks:read")];
  const asBody = (type: string, body: unknown, by = publisher): ClientRequest => ({
    headers: { ...by, "content-type": type },
    body: Buffer.from(JSON.stringify(body)),
  });
  const asHeaders = (more: Headers, by = publisher): ClientRequest => ({
    headers: { ...by, ...attributes, "ce-id": "headers", ...more },
    body: {},
  });
  const control = httpControl({
    send,
    path,
    what: "a CloudEvent of one's own",
    request: asBody(structured, { ...event, id: "own" }),
    judge: succeeds,
  });
  const row = (what: string, request: ClientRequest, ...codes: string[]): Attack =>
    httpAttack({ send, path, what, request, control, must: "publish nothing", judge: refusedAs(...codes) });
  return [
    row("structured, by a reader", asBody(structured, { ...event, id: "1" }, reader), "forbidden"),
    row("a batch, by a reader", asBody(batched, [{ ...event, id: "2" }], reader), "forbidden"),
    row("binary, by a reader", asHeaders({}, reader), "forbidden"),
    row("the account of another", asBody(structured, { ...event, id: "3", accountid: "acc_1" }), "validation_error"),
    row("the account of another in a header", asHeaders({ "ce-accountid": "acc_1" }), "validation_error"),
    row("a type of the service", asBody(structured, { ...event, id: "4", type: "image.deleted" }), "validation_error"),
    row("a type of the service in a header", asHeaders({ "ce-type": "account.deleted" }), "validation_error"),
    row("a line break in a header", asHeaders({ "ce-subject": "a%0d%0aX-Forged: 1" }), "validation_error"),
    row("a null character in a header", asHeaders({ "ce-subject": "a%00b" }), "validation_error"),
    row("bytes that are not UTF-8 in a header", asHeaders({ "ce-subject": "%ff%fe" }), "validation_error"),
    row("an attribute named __proto__", asHeaders({ "ce-__proto__": "x" }), "validation_error"),
    row("a batch of batches", asBody(batched, [[{ ...event, id: "5" }]]), "validation_error"),
    row(
      "a batch of 101",
      asBody(
        batched,
        Array.from({ length: 101 }, (_, at) => ({ ...event, id: `b${at}` })),
      ),
      "validation_error",
    ),
    row(
      "one bad event in a batch",
      asBody(batched, [
        { ...event, id: "6" },
        { ...event, id: "7", data: 1 },
      ]),
      "validation_error",
    ),
  ];
}
