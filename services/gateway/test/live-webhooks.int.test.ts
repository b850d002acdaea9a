import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";
import { type Heard, listen, liveClient } from "./live-client.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const warmUp = "-";
const heardBy = ({ results }: Heard) =>
  results.map(({ data }) => data.told.deliveryId).filter((name) => name !== warmUp);

for (const { field, event, argument, idOf } of [
  { field: "webhookReceived", event: "webhook.received", argument: "sourceId", idOf: "source_id" },
  { field: "deliveryAttempted", event: "webhook_delivery.attempted", argument: "endpointId", idOf: "endpoint_id" },
] as const) {
  test(`${field} tells its account alone, and with ${argument} of that one alone`, async () => {
    const [ada, eve] = [testPerson(), testPerson()];
    const clients = [liveClient(gateway, ada), liveClient(gateway, eve)] as const;
    const whole = `subscription { told: ${field} { event { type } deliveryId eventType } }`;
    const narrowed = `subscription N($id: ID) { told: ${field}(${argument}: $id) { deliveryId } }`;
    const { example } = eventOf(event);
    const publish = async (accountId: string, names: readonly string[], id: string) => {
      const drafts = names.map((name) =>
        draft(event, { subject: id, accountId, data: { ...example, [idOf]: id, delivery_id: name } as never }),
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
    const { event: told, eventType } = everything.results[0].data.told;
    assert.deepEqual([told.type, eventType], [event, example.event_type]);
    await Promise.all(clients.map(async (client) => client.dispose()));
  });
}
