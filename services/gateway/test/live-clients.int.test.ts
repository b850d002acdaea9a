import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { draft, eventOf, subscriptions } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { fetchExchange, subscriptionExchange, Client as UrqlClient } from "@urql/core";
import { type Harness, startGateway } from "./harness.ts";
import { changeImage, type Heard, listen, liveClient } from "./live-client.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const query = "subscription { imageChanged { changed image { id filename } } }";

interface Told {
  readonly imageChanged: { readonly changed: readonly string[]; readonly image: { readonly filename: string } | null };
}

/** Subscribes with a client that others wrote, and hands on the data of each message until it is ended. */
type Subscribe = (who: TestPerson, onData: (data: Told) => void) => () => unknown;

const clients: Readonly<Record<string, Subscribe>> = {
  "Apollo Client over WebSocket"(who, onData) {
    const socket = liveClient(gateway, who);
    const client = new ApolloClient({ cache: new InMemoryCache(), link: new GraphQLWsLink(socket) });
    const subscription = client
      .subscribe<Told>({ query: gql(query) })
      .subscribe({ next: ({ data }) => void (data && onData(data)) });
    return async () => {
      subscription.unsubscribe();
      client.stop();
      await socket.dispose();
    };
  },
  "urql over WebSocket"(who, onData) {
    const socket = liveClient(gateway, who);
    const forward = subscriptionExchange({
      forwardSubscription: ({ query: text = "", ...request }) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: text }, sink as never) }),
      }),
    });
    const client = new UrqlClient({ url: `${gateway.url}/graphql`, preferGetMethod: false, exchanges: [forward] });
    const { unsubscribe } = client.subscription<Told>(query, {}).subscribe(({ data }) => void (data && onData(data)));
    return async () => {
      unsubscribe();
      await socket.dispose();
    };
  },
  "urql over an event stream"(who, onData) {
    const client = new UrqlClient({
      url: `${gateway.url}/graphql`,
      preferGetMethod: false,
      fetchSubscriptions: true,
      fetchOptions: { headers: who.headers },
      exchanges: [fetchExchange],
    });
    const { unsubscribe } = client.subscription<Told>(query, {}).subscribe(({ data }) => void (data && onData(data)));
    return unsubscribe;
  },
};

for (const [name, subscribe] of Object.entries(clients)) {
  test(`${name} is told of changes, as it came from its makers`, async () => {
    const person = testPerson();
    const told: Told[] = [];
    const end = subscribe(person, (data) => told.push(data));
    await eventually(async () => {
      await changeImage(gateway, person.accountId, ["title"]);
      return told.length > 0;
    });
    await end();
    assert.deepEqual(told[0]?.imageChanged.changed, ["title"]);
    assert.equal(told[0]?.imageChanged.image?.filename, "photo.jpg");
  });
}

const warmUp = "-";
const heardBy = ({ results }: Heard) => results.map(({ data }) => data.told.name).filter((name) => name !== warmUp);

for (const { field, event, argument, idOf, member, name } of [
  {
    field: "webhookReceived",
    event: "webhook.received",
    argument: "sourceId",
    idOf: "source_id",
    member: "delivery_id",
    name: "deliveryId",
  },
  {
    field: "webhookRejected",
    event: "webhook.rejected",
    argument: "sourceId",
    idOf: "source_id",
    member: "id",
    name: "rejectionId",
  },
  {
    field: "deliveryAttempted",
    event: "webhook_delivery.attempted",
    argument: "endpointId",
    idOf: "endpoint_id",
    member: "delivery_id",
    name: "deliveryId",
  },
] as const) {
  test(`${field} tells its account alone, with ${argument} of that one alone`, async () => {
    const [ada, eve] = [testPerson(), testPerson()];
    const clients = [liveClient(gateway, ada), liveClient(gateway, eve)] as const;
    const { example } = eventOf(event);
    const { entity, payloadOf } = subscriptions[field];
    const members = Object.entries(payloadOf({ name: event, data: example }) ?? {}).filter(
      ([key]) => key !== entity && key !== name && key !== argument,
    );
    const fields = members.map(([key]) => key).join(" ");
    const whole = `subscription { told: ${field} { event { type } name: ${name} ${fields} } }`;
    const narrowed = `subscription N($id: ID) { told: ${field}(${argument}: $id) { name: ${name} } }`;
    const publish = async (accountId: string, names: readonly string[], id: string) => {
      const drafts = names.map((one) =>
        draft(event, { subject: id, accountId, data: { ...example, [idOf]: id, [member]: one } as never }),
      );
      await publishEvents({ ...gateway.context, eventLog: gateway.eventLog, service: "webhook-ingest" }, drafts);
    };
    const everything = listen(clients[0], whole);
    const one = listen(clients[0], narrowed, { variables: { id: "this_one" } });
    const stranger = listen(clients[1], whole);
    await eventually(async () => {
      for (const { accountId } of [ada, eve]) await publish(accountId, [warmUp], "this_one");
      return [everything, one, stranger].every(({ results }) => results.length > 0);
    });
    await publish(ada.accountId, ["of another"], "another_one");
    await publish(ada.accountId, ["of it"], "this_one");
    await publish(eve.accountId, ["hers"], "this_one");
    await eventually(() => [everything, one, stranger].every((heard) => heardBy(heard).length > 0));
    await eventually(() => heardBy(everything).length === 2);
    assert.deepEqual(heardBy(everything).toSorted(), ["of another", "of it"]);
    assert.deepEqual([heardBy(one), heardBy(stranger)], [["of it"], ["hers"]]);
    const { event: told, name: _, ...shown } = everything.results[0].data.told;
    assert.deepEqual([told.type, shown], [event, Object.fromEntries(members)]);
    await Promise.all(clients.map(async (client) => client.dispose()));
  });
}

test("eventPublished tells its account alone which event is the newest and how many came", async () => {
  const [ada, eve] = [testPerson(), testPerson()];
  const clients = [liveClient(gateway, ada), liveClient(gateway, eve)] as const;
  const whole = "subscription { eventPublished { event { type } eventId eventType count changed } }";
  const [hers, others] = [listen(clients[0], whole), listen(clients[1], whole)];
  const { example } = eventOf("webhook_event.published");
  const publish = async ({ accountId }: TestPerson, id: string) => {
    const data = { ...example, id };
    const drafts = [draft("webhook_event.published", { subject: accountId, accountId, data })];
    await publishEvents({ ...gateway.context, eventLog: gateway.eventLog, service: "webhook-delivery" }, drafts);
  };
  await eventually(async () => {
    await Promise.all([publish(ada, "evt_hers"), publish(eve, "evt_others")]);
    return hers.results.length > 0 && others.results.length > 0;
  });
  assert.deepEqual(hers.results[0].data.eventPublished, {
    event: { type: "webhook_event.published" },
    eventId: "evt_hers",
    eventType: example.type,
    count: example.count,
    changed: [],
  });
  const idsOf = ({ results }: Heard) => [...new Set(results.map(({ data }) => data.eventPublished.eventId))];
  assert.deepEqual([idsOf(hers), idsOf(others)], [["evt_hers"], ["evt_others"]]);
  await Promise.all(clients.map(async (client) => client.dispose()));
});
