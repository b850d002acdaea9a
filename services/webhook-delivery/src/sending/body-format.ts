import { findEvent, schemaRegistry, topics } from "@signalbox/contracts";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import type { EndpointSettings } from "../endpoints/endpoint-settings.ts";
import { type CloudEventMembers, hasNoData } from "../events/cloud-event.ts";
import { originalOf, rawMember } from "./original-body.ts";

interface FormattedBody {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

type FormattedDelivery = Pick<LeasedDelivery, "accountId" | "eventType" | "body">;

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly api_version: string;
  readonly account_id: string;
  readonly subject?: string;
  readonly cloudevents?: CloudEventMembers;
}

type Data = Readonly<Record<string, unknown>>;

const noHeaders = {};

/** Builds the body that an endpoint gets. The stored bytes are the envelope, which costs nothing here. */
export function bodyIn(format: EndpointSettings["format"], delivery: FormattedDelivery, baseUrl: string) {
  switch (format) {
    case "envelope":
      return { body: delivery.body, headers: noHeaders };
    case "original":
      if (delivery.eventType === "webhook.received") return originalOf(delivery.body);
      return { body: delivery.body, headers: noHeaders };
    case "cloudevents":
      return cloudEventOf(delivery, baseUrl);
    case "thin":
      return { body: thinBodyOf(delivery), headers: noHeaders };
  }
}

const cloudEventHeaders = { "content-type": "application/cloudevents+json" };

/** Builds a CloudEvent in structured mode. One of the service has id, source and type of its record in Kafka. */
function cloudEventOf(delivery: FormattedDelivery, baseUrl: string): FormattedBody {
  const { envelope, data } = readEnvelope(delivery.body);
  const event = findEvent(envelope.type);
  const isWithoutData = hasNoData(envelope.cloudevents ?? {});
  const subject = event ? subjectOf(envelope.type, data) : envelope.subject;
  const attributes = {
    specversion: "1.0",
    id: envelope.id,
    source: `/signalbox/${ownerOf(event?.topic)}`,
    type: event ? `${envelope.type}.${envelope.api_version}` : envelope.type,
    time: envelope.created_at,
    // JSON leaves out what is undefined.
    subject,
    datacontenttype: isWithoutData ? undefined : "application/json",
    dataschema: event && `${baseUrl}${schemaRegistry.pathOf(event)}`,
    ...envelope.cloudevents,
    accountid: envelope.account_id,
  };
  const before = JSON.stringify(attributes);
  if (isWithoutData) return { body: Buffer.from(before), headers: cloudEventHeaders };
  // Numbers of a partner's webhook keep all of their digits.
  const parts = [Buffer.from(`${before.slice(0, -1)},"data":`), rawMember(delivery.body, "data"), Buffer.from("}")];
  return { body: Buffer.concat(parts), headers: cloudEventHeaders };
}

/** Custom events are those of the service that takes them. */
const ownerOf = (topic: string | undefined): string =>
  topics.find(({ name }) => name === topic)?.owner ?? "webhook-delivery";

/** Builds the body that says what happened to which thing, and where the thing is read. */
function thinBodyOf(delivery: FormattedDelivery): Buffer {
  const { envelope, data } = readEnvelope(delivery.body);
  const { id, type, created_at } = envelope;
  // An operator reads the things of other accounts in the events alone.
  const thing = envelope.account_id === delivery.accountId ? thingOf(type, data) : null;
  const event = { id, type: "webhook_event", url: `/api/v1/webhooks/events/${encodeURIComponent(id)}` };
  return Buffer.from(JSON.stringify({ id, type, created_at, related_object: thing ?? event }));
}

function readEnvelope(body: Buffer): { readonly envelope: Envelope; readonly data: Data } {
  const { data, ...envelope } = JSON.parse(body.toString("utf8")) as Envelope & { readonly data: Data | null };
  // The data of a purged account are gone.
  return { envelope, data: data ?? {} };
}

const paths: Readonly<Record<string, (id: string) => string>> = {
  account: () => "/api/account/",
  account_settings: () => "/api/account/settings/",
  api_key: (id) => `/api/account/api-keys/${id}`,
  service_client: (id) => `/api/account/clients/${id}`,
  passkey: () => "/api/account/passkeys/",
  invitation: (id) => `/api/v1/invitations/${id}`,
  application: (id) => `/api/v1/oauth/applications/${id}`,
  image: (id) => `/images/${id}`,
  webhook_source: (id) => `/api/v1/webhooks/sources/${id}`,
  webhook_endpoint: (id) => `/api/v1/webhooks/endpoints/${id}`,
  webhook_delivery: (id) => `/api/v1/webhooks/deliveries/${id}`,
  webhook_event_type: (name) => `/api/v1/webhooks/event-types/${name}`,
};

/** Describes the thing that an event of the service is about; null where there is none to read. */
function thingOf(eventType: string, data: Data): { id: string; type: string; url: string } | null {
  if (eventType === "webhook.received") {
    const { source_id: source, received_id: id } = data;
    if (typeof id !== "string") return null;
    return { id, type: "received_webhook", url: `/api/v1/webhooks/sources/${source}/received/${id}` };
  }
  const type = eventType === "account.settings_updated" ? "account_settings" : (eventType.split(".")[0] ?? "");
  const id = idIn(type, data);
  const path = Object.hasOwn(paths, type) ? paths[type] : undefined;
  return id === undefined || path === undefined ? null : { id, type, url: path(encodeURIComponent(id)) };
}

const subjectOf = (eventType: string, data: Data): string | undefined =>
  eventType === "webhook.received" ? textOf(data.source_id) : idIn(eventType.split(".")[0] ?? "", data);

const idIn = (type: string, { id, image_id, account_id, name }: Data): string | undefined =>
  textOf(type === "webhook_event_type" ? name : (id ?? image_id ?? account_id));

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
