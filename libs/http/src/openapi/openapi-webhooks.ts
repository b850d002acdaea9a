import { catalogue, eventJsonSchema, schemaRegistry } from "@signalbox/contracts";

const exampleEvent = { id: "019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11", account: "acc_5Yb0cPq7TnV2sKxW9mRdLh" };

const header = (name: string, description: string) => ({
  in: "header",
  name,
  required: true,
  description,
  schema: { type: "string" },
});

/** The headers of every delivery (CONTRACT §6), by their names in the document. */
const headers = {
  WebhookId: header("webhook-id", "The id of the event: apply one id once."),
  WebhookTimestamp: header("webhook-timestamp", "The time of this attempt, in Unix seconds."),
  WebhookSignature: header("webhook-signature", "The signatures of Standard Webhooks, separated by spaces."),
  EventType: header("X-Event-Type", "The name of the event type, percent-encoded."),
  DeliveryId: header("X-Delivery-Id", "The id of the delivery, the same on every attempt."),
  Timestamp: header("X-Timestamp", "The time of this attempt, in Unix seconds."),
  Signature: header("X-Signature", "`sha256=` and the HMAC-SHA256 of `X-Timestamp`, a full stop and the body, in hex."),
};

const answers = {
  Acknowledged: { description: "The delivery is acknowledged." },
  EndpointGone: { description: "The endpoint is disabled and gets nothing more." },
  DeliveryFailed: { description: "The delivery failed; it is retried by the endpoint's schedule." },
};

const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const responses = {
  "2XX": refer("responses", "Acknowledged"),
  "410": refer("responses", "EndpointGone"),
  default: refer("responses", "DeliveryFailed"),
};

interface WebhooksSection {
  readonly webhooks: Readonly<Record<string, object>>;
  readonly components: Readonly<Record<"schemas" | "responses", Readonly<Record<string, object>>>>;
}

/** Builds the `webhooks` section: the built-in events that an endpoint can receive, and what they refer to. */
export function webhooksSection(): WebhooksSection {
  const names = new Map<string, string>();
  const schemas: Record<string, object> = {};
  const webhooks = catalogue
    .filter(({ audience }) => audience !== "internal")
    .map((event) => {
      const { $schema: _, $id: __, title: ___, description: ____, examples: _____, ...data } = eventJsonSchema(event);
      // Events about the same resource share a schema.
      const key = JSON.stringify(data);
      const name = names.get(key) ?? `${pascalCase(event.name)}Data`;
      names.set(key, name);
      schemas[name] = data;
      const payload = `${pascalCase(event.name)}Event`;
      schemas[payload] = payloadOf(event, name);
      return [event.name, { post: operationOf(event, payload) }];
    });
  return { webhooks: Object.fromEntries(webhooks), components: { schemas, responses: answers } };
}

const pascalCase = (name: string): string =>
  name.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

type CatalogueEvent = (typeof catalogue)[number];

/** Builds the schema of the body that an endpoint receives. */
function payloadOf({ name, version }: CatalogueEvent, dataSchema: string): object {
  const { type, data, api_version: apiVersion } = schemaRegistry.envelopeProperties;
  const properties = {
    ...schemaRegistry.envelopeProperties,
    type: { ...type, const: name },
    data: { ...data, ...refer("schemas", dataSchema) },
    api_version: { type: "string", description: apiVersion.description, const: `v${version}` },
  };
  return { type: "object", required: Object.keys(properties), properties };
}

function operationOf({ name, version, audience, description, example }: CatalogueEvent, payload: string): object {
  const account = audience === "account" ? exampleEvent.account : null;
  const envelope = { id: exampleEvent.id, type: name, created_at: "2026-01-01T00:00:00.000Z" };
  return {
    operationId: `on${pascalCase(name)}`,
    summary: name,
    description: audience === "operator" ? `${description} Sent to endpoints of operators.` : description,
    tags: ["webhooks"],
    security: [],
    // Not by reference: openapi-generator resolves none in webhooks.
    parameters: Object.values(headers),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: refer("schemas", payload),
          example: Object.assign(envelope, { data: example, api_version: `v${version}`, account_id: account }),
        },
      },
    },
    responses,
  };
}
