import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { fetchExchange, subscriptionExchange, Client as UrqlClient } from "@urql/core";
import { type Harness, startGateway } from "./harness.ts";
import { changeImage, liveClient } from "./live-client.ts";

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
