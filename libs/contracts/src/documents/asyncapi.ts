import { catalogue, dataSchemaOf, eventType } from "../catalogue/event-catalogue.ts";
import type { EventDeclaration } from "../topics/define-event.ts";
import { topics } from "../topics/topics.ts";
import { eventJsonSchema, type JsonSchema } from "./json-schema.ts";

/** The headers every record carries: CloudEvents 1.0 in binary mode (DESIGN §4). */
const headers: JsonSchema = {
  type: "object",
  required: [
    "ce_specversion",
    "ce_id",
    "ce_source",
    "ce_type",
    "ce_time",
    "ce_subject",
    "ce_dataschema",
    "content-type",
  ],
  properties: {
    ce_specversion: { type: "string", const: "1.0" },
    ce_id: { type: "string", format: "uuid", description: "UUIDv7. The same on every redelivery." },
    ce_source: { type: "string" },
    ce_type: { type: "string", description: "Name and version." },
    ce_time: { type: "string", format: "date-time" },
    ce_subject: { type: "string", description: "The aggregate, and the key of the record." },
    ce_dataschema: { type: "string" },
    ce_traceparent: { type: "string", description: "W3C trace context of the change." },
    ce_accountid: { type: "string", description: "The account of the event; absent for events without an account." },
    "content-type": { type: "string", const: "application/json" },
  },
};

/** A broker with authentication, and one without. Their addresses are the operator's: `events.url` has the same. */
const servers = {
  secured: {
    host: "{host}:{port}",
    protocol: "kafka-secure",
    description: "TLS, with one of these mechanisms. Each program has its own principal with the rights that it needs.",
    variables: { host: { default: "kafka.example.com" }, port: { default: "9093" } },
    security: ["scramSha512", "scramSha256", "plain", "certificate", "oauth"].map((name) => ({
      $ref: `#/components/securitySchemes/${name}`,
    })),
  },
  open: {
    host: "{host}:{port}",
    protocol: "kafka",
    description: "Without TLS and principals, for development and closed networks.",
    variables: { host: { default: "localhost" }, port: { default: "9092" } },
  },
};

const securitySchemes = {
  scramSha512: { type: "scramSha512", description: "SASL SCRAM-SHA-512." },
  scramSha256: { type: "scramSha256", description: "SASL SCRAM-SHA-256." },
  plain: { type: "plain", description: "SASL PLAIN, over TLS only." },
  certificate: { type: "X509", description: "A client certificate; its subject is the principal." },
  oauth: {
    type: "oauth2",
    description: "SASL OAUTHBEARER with a token from the operator's issuer.",
    flows: { clientCredentials: { tokenUrl: "https://login.example.com/token", availableScopes: {} } },
  },
};

/** Builds the AsyncAPI 3.0 document of all topics and events, with their schemas and examples in it. */
export function asyncApiDocument(): Record<string, unknown> {
  return documentOf(completeMessage);
}

/** Builds the same document with references to files of schemas, which have the examples. `pathOf` gives the file of a type. */
export function asyncApiOutline(pathOf: (type: string) => string): Record<string, unknown> {
  return documentOf((event) => messageOf(event, { $ref: pathOf(eventType(event)) }));
}

function documentOf(describe: (event: EventDeclaration) => object): Record<string, unknown> {
  const used = topics.filter(({ name }) => catalogue.some(({ topic }) => topic === name));
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Signalbox events",
      version: "1.0.0",
      description: "Every event is delivered at least once, in order per key.",
    },
    defaultContentType: "application/json",
    servers,
    channels: Object.fromEntries(used.map((topic) => [topic.name, channelOf(topic.name)])),
    operations: Object.fromEntries(used.map(({ name, owner }) => [`${owner}.send.${name}`, sendOf(name)])),
    components: {
      messages: Object.fromEntries(catalogue.map((event) => [eventType(event), describe(event)])),
      messageTraits: { cloudEvent: { headers } },
      securitySchemes,
    },
  };
}

function channelOf(name: string): Record<string, unknown> {
  const topic = topics.find((candidate) => candidate.name === name);
  return {
    address: name,
    description: topic?.description,
    messages: Object.fromEntries(eventsOn(name).map((type) => [type, { $ref: `#/components/messages/${type}` }])),
    bindings: {
      kafka: {
        topic: name,
        partitions: topic?.partitions,
        topicConfiguration: {
          "cleanup.policy": [topic?.cleanup],
          "retention.ms": topic?.retentionMs,
          "max.message.bytes": topic?.maxMessageBytes,
        },
      },
    },
  };
}

function sendOf(name: string): Record<string, unknown> {
  const messages = eventsOn(name).map((type) => ({ $ref: `#/channels/${name}/messages/${type}` }));
  return { action: "send", channel: { $ref: `#/channels/${name}` }, messages };
}

function completeMessage(event: EventDeclaration): object {
  const { $schema, ...schema } = eventJsonSchema(event);
  const headers = { ce_type: eventType(event), ce_dataschema: dataSchemaOf(event) };
  return { ...messageOf(event, schema), examples: [{ headers, payload: event.example }] };
}

function messageOf(event: EventDeclaration, schema: object): object {
  return {
    name: eventType(event),
    title: event.name,
    summary: event.description,
    traits: [{ $ref: "#/components/messageTraits/cloudEvent" }],
    payload: { schemaFormat: "application/schema+json;version=draft-2020-12", schema },
    bindings: { kafka: { key: { type: "string", description: event.subject } } },
  };
}

const eventsOn = (topic: string): string[] => catalogue.filter((event) => event.topic === topic).map(eventType);
