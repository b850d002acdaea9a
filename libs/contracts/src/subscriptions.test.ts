import assert from "node:assert/strict";
import test from "node:test";
import { accountStates, mayAccess } from "./access/account-state.ts";
import { eventOf } from "./catalogue.ts";
import { type SubscriptionDeclaration, subscriptions } from "./subscriptions.ts";

const declarations: readonly [string, SubscriptionDeclaration][] = Object.entries(subscriptions);

/** The payload of each subscription for the example of its events, without the id of the resource. */
const payloads = {
  accountChanged: ({ id, account_id, changed }: Data) => ({ account: entity("Account", account_id ?? id), changed }),
  imageChanged: ({ id, changed }: Data, name: string) => ({
    imageId: id,
    image: name === "image.deleted" ? null : entity("Image", id),
    changed,
  }),
  webhookReceived: ({ received_id, delivery_id, event_type }: Data) => ({
    receivedWebhook: entity("ReceivedWebhook", received_id),
    deliveryId: delivery_id,
    eventType: event_type,
    replayed: false,
    changed: [],
  }),
  deliveryAttempted: ({ endpoint_id, delivery_id, event_type, number, outcome, status, error, duration_ms }: Data) => ({
    endpoint: entity("WebhookEndpoint", endpoint_id),
    deliveryId: delivery_id,
    eventType: event_type,
    number,
    outcome,
    status,
    error,
    durationMs: duration_ms,
    changed: [],
  }),
  configChanged: ({ property, revision }: Data) => ({ revision, changed: [property] }),
};

type Data = Readonly<Record<string, unknown>>;
const entity = (type: string, id: unknown) => ({ __typename: type, id });

for (const [field, declaration] of declarations) {
  for (const name of declaration.events) {
    test(`${field}: every member of the payload is in the record of ${name}`, () => {
      const { example: data, audience } = eventOf(name);
      const payload = declaration.payloadOf({ name, data });
      assert.deepEqual(payload, payloads[field as keyof typeof payloads](data, name));
      assert.ok(!Object.values(payload ?? {}).includes(undefined));
      const { only } = declaration;
      if (only) assert.equal(typeof only.idOf(data as Data), "string", "an id to be narrowed to");
      const audiences = "scope" in declaration.access ? ["account", "internal"] : ["operator"];
      assert.ok(audiences.includes(audience), "events reach their own audience only");
    });
  }

  test(`${field} ignores other events`, () => {
    const data = eventOf("account.deleted").example;
    assert.equal(declaration.payloadOf({ name: "account.deleted", data }), null);
  });

  test(`${field} has its declared name, and ends with a suspension if it belongs to an account`, () => {
    assert.equal(declaration.field, field);
    const { access } = declaration;
    if (!("scope" in access)) return;
    const open = accountStates.filter((state) => mayAccess(state, access.access));
    assert.deepEqual(open, ["pending", "active"]);
  });
}

test("configChanged sends public properties to everyone and the others to operators only", () => {
  const { access } = subscriptions.configChanged;
  const audienceOf = (property: string) => ("audienceOf" in access ? access.audienceOf({ property }) : assert.fail());
  assert.equal(audienceOf("limits.maxPageSize"), "public");
  assert.equal(audienceOf("graphql.limits.depth"), "operator");
});
