import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { type Audience, draft, eventOf, scopesOfRole } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { openPool } from "@signalbox/storage";
import { eventually, internalToken, testPerson } from "@signalbox/testing";
import { Cursors } from "../src/live/live-cursor.ts";
import { type Harness, startGateway } from "./harness.ts";
import { changeImage, type Heard, listen, liveClient, ready } from "./live-client.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());
afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

const all = "subscription { imageChanged { event { id type occurredAt } cursor changed image { id filename } } }";
const titles = ({ results }: Heard) =>
  results.flatMap(({ data }) => data.imageChanged.changed).filter((title: string) => title !== "warm-up");
const cursorOf = (heard: Heard): string => heard.results.at(-1).data.imageChanged.cursor;

test("a change reaches only the account it is of, with the entity as its owner shows it", async () => {
  const [ada, eve] = [testPerson(), testPerson()];
  const [hers, others] = [liveClient(gateway, ada), liveClient(gateway, eve)];
  const text = `subscription S($with: Boolean!) {
    told: imageChanged { at: event { __typename what: type } names: changed pic: image { ...F } other: image @include(if: $with) { id } }
  } fragment F on Image { key: id called: filename }`;
  const heard = listen(hers, text, { variables: { with: true } });
  const stranger = listen(others, all);
  await eventually(async () => {
    await changeImage(gateway, ada.accountId, ["a"]);
    await changeImage(gateway, eve.accountId, ["hers"]);
    return heard.results.length > 0 && stranger.results.length > 0;
  });
  const { told } = heard.results[0].data;
  assert.deepEqual(told, {
    at: { __typename: "LiveEvent", what: "image.updated" },
    names: ["a"],
    pic: { key: told.other.id, called: "photo.jpg" },
    other: { id: told.other.id },
  });
  assert.deepEqual([...new Set(titles(stranger))], ["hers"]);
  await Promise.all([hers.dispose(), others.dispose()]);
});

test("a subscription resumes after a cursor, from memory or log, with every event once and in order", async () => {
  const person = testPerson();
  const client = liveClient(gateway, person);
  const first = listen(client, all);
  await ready(gateway, person, first);
  first.stop();
  const names = Array.from({ length: 30 }, (_, at) => `change ${at}`);
  const id = await changeImage(gateway, person.accountId, names.slice(0, 10));
  const again = listen(client, all, { resumeAfter: cursorOf(first) });
  await changeImage(gateway, person.accountId, names.slice(10), id);
  await eventually(() => titles(again).length >= 30);
  assert.deepEqual(titles(again), names);

  // Another instance has none of it in memory.
  const other = await startGateway({ "events.url": gateway.context.configuration.get("events.url") });
  const elsewhere = liveClient(other, person);
  const fromLog = await eventually(async () => {
    const heard = listen(elsewhere, all, { resumeAfter: cursorOf(first) });
    await eventually(() => heard.ended || titles(heard).length >= 30);
    return heard.ended ? null : heard;
  });
  await changeImage(gateway, person.accountId, ["one more"], id);
  await eventually(() => titles(fromLog).includes("one more"));
  assert.deepEqual(titles(fromLog), [...names, "one more"]);
  await Promise.all([client.dispose(), elsewhere.dispose()]);
  await other.close();
});

test("a cursor of another subscription, or of nothing, is refused", async () => {
  const person = testPerson();
  const client = liveClient(gateway, person);
  const heard = listen(client, all);
  await ready(gateway, person, heard);
  for (const [query, resumeAfter] of [
    ["subscription { webhookReceived { cursor } }", cursorOf(heard)],
    [all, "AAAA"],
    [all, `${cursorOf(heard).slice(0, -4)}AAAA`],
  ] as const) {
    const refused = listen(client, query, { resumeAfter });
    await eventually(() => refused.ended !== null);
    assert.equal(refused.ended[0].extensions.code, "VALIDATION_FAILED");
  }
  await client.dispose();
});

test("a cursor of another log or of events long gone ends with CURSOR_EXPIRED", async () => {
  await using opened = new AsyncDisposableStack();
  const emptied = await startGateway();
  opened.defer(() => emptied.close());
  const url = emptied.context.configuration.get("events.url");
  const events = openPool({ ...emptied.context, url, max: 1, applicationName: "live-tests" });
  const person = testPerson();
  const client = liveClient(emptied, person);
  opened.defer(async () => client.dispose());
  const cursors = new Cursors(() => [internalToken]);
  const { rows } = await events.query<{ partition: number }>({
    name: "",
    text: "select partition from signalbox.log_partition where topic = 'signalbox.image.v1'",
  });
  assert.ok(rows.length > 0);
  const at = (offset: bigint) =>
    cursors.seal("imageChanged", new Map(rows.map(({ partition }) => [`signalbox.image.v1/${partition}`, offset])));
  const codeOf = async (resumeAfter: string) => {
    const heard = listen(client, all, { resumeAfter });
    await eventually(() => heard.ended || heard.results.length > 0);
    return heard.ended?.[0].extensions.code ?? null;
  };
  assert.equal(await codeOf(at(1_000_000n)), "CURSOR_EXPIRED", "nothing of it was ever here");
  // What retention does, for an instance that has none of it in memory.
  const text = `update signalbox.log_partition set first_offset = 5, next_offset = 5 where topic = 'signalbox.image.v1'`;
  await events.query({ name: "", text });
  const later = await startGateway({ "events.url": url });
  opened.defer(() => later.close());
  const elsewhere = liveClient(later, person);
  opened.defer(async () => elsewhere.dispose());
  const expired = listen(elsewhere, all, { resumeAfter: at(2n) });
  await eventually(() => expired.ended);
  assert.equal(expired.ended[0].extensions.code, "CURSOR_EXPIRED");
  assert.deepEqual(expired.results, []);
});

test("a change of the account reaches its owner with the account as it is now", async () => {
  const [ada, eve] = [testPerson(), testPerson()];
  const clients = [ada, eve].map((person) => liveClient(gateway, person));
  const text = "subscription { accountChanged { event { type } changed account { id displayName } } }";
  const [heard, stranger] = clients.map((client) => listen(client, text)) as [Heard, Heard];
  const change = (accountId: string, changed: string) =>
    publishEvents({ ...gateway.context, eventLog: gateway.eventLog, service: "account" }, [
      draft("account.updated", {
        subject: accountId,
        accountId,
        data: { ...eventOf("account.updated").example, id: accountId, changed: [changed] } as never,
      }),
    ]);
  await eventually(async () => {
    await change(ada.accountId, "display_name");
    await change(eve.accountId, "locale");
    return heard.results.length > 0 && stranger.results.length > 0;
  });
  assert.deepEqual(heard.results[0].data.accountChanged, {
    event: { type: "account.updated" },
    changed: ["displayName"],
    account: { id: ada.accountId, displayName: "Ada" },
  });
  assert.deepEqual(
    new Set(stranger.results.flatMap(({ data }) => data.accountChanged.changed)),
    new Set(["locale"]),
    "nobody hears of the accounts of others",
  );
  await Promise.all(clients.map(async (client) => client.dispose()));
});

test("an argument narrows it to one image", async () => {
  const person = testPerson();
  const client = liveClient(gateway, person);
  const id = await changeImage(gateway, person.accountId, ["before"]);
  const everything = listen(client, all);
  const one = listen(client, "subscription O($id: ID) { imageChanged(id: $id) { imageId changed } }", {
    variables: { id },
  });
  await ready(gateway, person, everything);
  await changeImage(gateway, person.accountId, ["of another"]);
  await changeImage(gateway, person.accountId, ["of it"], id);
  await eventually(() => titles(everything).includes("of it"));
  await eventually(() => titles(one).includes("of it"));
  assert.deepEqual(
    one.results.map(({ data }) => data.imageChanged).filter(({ changed }) => changed[0] !== "before"),
    [{ imageId: id, changed: ["of it"] }],
  );
  await client.dispose();
});

test("an event is told while a service is away, its entity null with UNAVAILABLE", async () => {
  const person = testPerson();
  const client = liveClient(gateway, person);
  const heard = listen(client, all);
  await ready(gateway, person, heard);
  const images = gateway.subgraphs.get("images") ?? assert.fail();
  images.instead = (_request, response) => void response.writeHead(502).end();
  await changeImage(gateway, person.accountId, ["without"]);
  await eventually(() => titles(heard).includes("without"));
  const { data, errors } = heard.results.at(-1);
  assert.equal(data.imageChanged.image, null);
  assert.deepEqual(errors[0].path, ["imageChanged", "image"]);
  assert.equal(errors[0].extensions.code, "UNAVAILABLE");
  await client.dispose();
});

test("a subscription without the scope is refused, as is one without credentials", async () => {
  const narrow = liveClient(gateway, testPerson({ scopes: ["account:read"] }));
  const refused = listen(narrow, all);
  const anonymous = liveClient(gateway, null);
  const unknown = listen(anonymous, all);
  await eventually(() => refused.ended && unknown.ended);
  assert.equal(refused.ended[0].extensions.code, "FORBIDDEN");
  assert.equal(unknown.ended[0].extensions.code, "UNAUTHENTICATED");
  await Promise.all([narrow.dispose(), anonymous.dispose()]);
});

/** Tells of a change of access, as the account service does. */
const changeAccess = (subject: string, accountId: string, data: object) =>
  publishEvents({ ...gateway.context, eventLog: gateway.eventLog, service: "account" }, [
    draft("access.changed", {
      subject,
      accountId,
      data: { ...eventOf("access.changed").example, account_id: accountId, epoch: 2, ...data },
    }),
  ]);

test("a suspension ends what is open; a revoked credential closes its connection", async () => {
  const [suspended, revoked] = [testPerson(), testPerson()];
  const clients = [suspended, revoked].map((person) => liveClient(gateway, person));
  const [one, other] = clients.map((client) => listen(client, all)) as [Heard, Heard];
  await ready(gateway, suspended, one);
  await ready(gateway, revoked, other);
  const account = suspended.accountId;
  await changeAccess(`account:${account}`, account, { kind: "account", id: account, state: "suspended" });
  await eventually(() => one.ended);
  assert.equal(one.ended[0].extensions.code, "FORBIDDEN");
  await changeImage(gateway, suspended.accountId, ["too late"]);

  const { id } = revoked.principal.credential;
  await changeAccess(`token:${id}`, revoked.accountId, { kind: "token", id, state: "revoked" });
  await eventually(() => other.ended);
  assert.equal(other.ended.code, 4403);
  assert.ok(!titles(one).includes("too late"));
  await Promise.all(clients.map(async (client) => client.dispose()));
});

test("each change of a property reaches the audience of the property alone", async () => {
  const text = "subscription { configChanged { revision changed } }";
  const owner = testPerson({ scopes: [...scopesOfRole("owner")] });
  const clients = [null, owner, testPerson()].map((who) => liveClient(gateway, who));
  const [anonymous, account, operator] = clients.map((client) => listen(client, text)) as [Heard, Heard, Heard];
  const changed = ({ results }: Heard) => new Set(results.map(({ data }) => data.configChanged.changed[0]));
  let revision = 0;
  const change = (property: string, audience: Audience) => {
    const at = gateway.context.clock.now().toISOString();
    const data = {
      property,
      set: true,
      value: 20,
      revision: ++revision,
      secrecy: "public",
      audience,
      actor: "acc_1",
      reason: null,
      changed_at: at,
    };
    return publishEvents({ ...gateway.context, eventLog: gateway.eventLog, service: "config" }, [
      draft("config.changed", { subject: property, accountId: null, data: data as never }),
    ]);
  };
  // A subscription may begin between two of these changes, so each is told all three until it has heard its own.
  await eventually(async () => {
    await change("graphql.limits.depth", "operator");
    await change("features.integrations", "account");
    await change("defaults.pageSize", "public");
    return changed(anonymous).size >= 1 && changed(account).size >= 2 && changed(operator).size >= 3;
  });
  assert.deepEqual(changed(anonymous), new Set(["defaults.pageSize"]));
  assert.deepEqual(changed(account), new Set(["defaults.pageSize", "features.integrations"]));
  assert.deepEqual(changed(operator), new Set(["defaults.pageSize", "features.integrations", "graphql.limits.depth"]));
  await Promise.all(clients.map(async (client) => client.dispose()));
});

test("whatever has an id of its own in a service is a node", async () => {
  const typesIn = async (service: string, pattern: RegExp) => {
    const schema = await readFile(new URL(`../../${service}/subgraph.graphql`, import.meta.url), "utf8");
    return [...schema.matchAll(pattern)].map(([, name]) => name);
  };
  const services = ["account", "images", "config", "webhook-ingest", "webhook-delivery"];
  const entities = await Promise.all(services.map((service) => typesIn(service, /^type (\w+) @key/gm)));
  assert.deepEqual(
    new Set(await typesIn("gateway", /^type (\w+) implements Node @key/gm)),
    new Set(entities.flat()),
    "the subgraph of this process knows who owns it",
  );
});

test("queries are answered on the same connection", async () => {
  const person = testPerson();
  const client = liveClient(gateway, person);
  const query = listen(client, "{ viewer { id } }");
  const wrong = listen(client, "{ nothing }");
  await eventually(() => query.ended && wrong.ended);
  assert.deepEqual(query.results, [{ data: { viewer: { id: person.accountId } } }]);
  assert.equal(wrong.ended[0].extensions.code, "VALIDATION_FAILED");
  await client.dispose();
});
