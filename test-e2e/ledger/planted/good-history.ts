import type { Chain, ChainStep, Evidence, LogRecord } from "../evidence.ts";
import type { Operation, Outcome, Value } from "../history.ts";

const account = "acc_1";
const source = "src_1";
export const main = "main";
export const paused = "paused";
export const deleted = "deleted";

/** Times are in seconds of the story; every operation takes a tenth of one. */
let operationCount = 0;
const operation = (at: number, op: string, value: Value, answer: Value = {}, outcome: Outcome = "ok"): Operation => ({
  id: `${op}-${++operationCount}`,
  process: op,
  op,
  value,
  answer,
  outcome,
  invokedAt: at * 1_000,
  endedAt: outcome === "info" ? Number.POSITIVE_INFINITY : at * 1_000 + 100,
});

function record(topic: string, offset: number, key: string, type: string, data: Value): LogRecord {
  const eventId = `${type} ${key} ${offset}`;
  return {
    topic: `signalbox.${topic}.v1`,
    partition: 0,
    offset,
    key,
    eventId,
    type,
    data,
    accountId: topic === "config" ? "" : account,
    source: `/signalbox/${topic}`,
    digest: `digest of ${eventId}`,
  };
}

const open = (at: number, key: string, signedAt: number, verdict: string): Operation =>
  operation(at, "open-url", { account, key, signedAt: signedAt * 1_000, instance: "images-1" }, { verdict });
const ready = (title: string) => ({ title, status: "ready" });
const image = (offset: number, key: string, type: string, data: Value) => record("image", offset, key, type, data);
const settingsData = (timezone: string) => ({ timezone, locale: "en", notifications: { product_updates: false } });
const settingsOf = (timezone: string) => `${timezone} en false`;

const log: readonly LogRecord[] = [
  image(0, "img_1", "image.created", { title: "n-0", status: "processing" }),
  image(1, "img_1", "image.rendition_ready", ready("n-0")),
  image(2, "img_1", "image.updated", ready("n-1")),
  image(3, "img_1", "image.updated", ready("n-2")),
  // A page that was published twice, and the one after it.
  image(2, "img_1", "image.updated", ready("n-1")),
  image(3, "img_1", "image.updated", ready("n-2")),
  image(6, "img_1", "image.updated", ready("n-3")),
  image(7, "img_2", "image.created", { title: "keyed", status: "processing" }),
  image(8, "img_2", "image.rendition_ready", ready("keyed")),
  image(9, "img_3", "image.created", { title: "short", status: "processing" }),
  image(10, "img_3", "image.deleted", { title: "short", status: "processing" }),
  record("account", 0, account, "account.updated", { display_name: "left 1", changed: ["display_name"] }),
  record("account", 1, account, "account.updated", { display_name: "right 1", changed: ["display_name"] }),
  record("account", 2, account, "account.settings_updated", settingsData("UTC")),
  record("account", 3, account, "account.settings_updated", settingsData("Asia/Tokyo")),
  record("account", 4, "key_1", "api_key.created", {}),
  record("account", 5, "key_1", "api_key.revoked", {}),
  record("webhook-received", 0, source, "webhook.received", { delivery_id: "d-1" }),
  record("webhook-received", 1, source, "webhook.received", { delivery_id: "d-2" }),
  record("config", 0, "server.name", "config.changed", { value: "Ledger 1", revision: 1 }),
  record("config", 1, "server.name", "config.changed", { value: "Ledger 2", revision: 2 }),
  record("config", 2, "flag:ledger", "flag.changed", { revision: 3 }),
  record("config", 3, "flag:ledger", "flag.changed", { revision: 4 }),
].map((one, place) => ({ ...one, offset: place }));

/** JSON of a publisher and of a partner. */
const payload = '{"b":1.10,"1":9007199254740993}';

const operations: readonly Operation[] = [
  operation(1, "upload", { account, title: "n-0", sha256: "a", first: true }, { image: "img_1" }),
  operation(2, "upload", { account, title: "keyed", sha256: "b", keyed: true }, { image: "img_2" }),
  operation(3, "upload", { account, title: "short", sha256: "c", keyed: false }, { image: "img_3" }),
  operation(3.5, "upload", { account, title: "lost", sha256: "d", keyed: false }, {}, "info"),
  operation(4, "delete-image", { account, image: "img_3" }),
  ...[1, 2, 3].map((number) =>
    operation(
      4 + number,
      "patch-image",
      { account, image: "img_1", title: `n-${number}` },
      { request: `req_${number}` },
    ),
  ),
  operation(5, "patch-account", { account, name: "left 1", base: "Account 1" }),
  operation(6, "patch-account", { account, name: "right 1", base: "left 1" }),
  operation(6, "patch-account", { account, name: "left 2", base: "left 1" }, {}, "fail"),
  operation(5, "patch-settings", { account, settings: settingsOf("UTC") }),
  operation(6, "patch-settings", { account, settings: settingsOf("Asia/Tokyo") }),
  operation(5, "webhook", { account, source, delivery: "d-1", payload }),
  operation(6, "webhook", { account, source, delivery: "d-2", payload }),
  operation(5, "create-key", { account }, { key: "key_1" }),
  operation(6, "revoke-key", { account, key: "key_1" }, { key: "key_1" }),
  ...[7, 9, 20].map((at) =>
    operation(
      at,
      "probe",
      { key: "key_1", service: "images", instance: "images-1", revokedAt: 6_100, lateMs: 0 },
      { verdict: at < 8 ? "let in" : "refused" },
    ),
  ),
  operation(5, "set-property", { value: "Ledger 1", expected: "0" }, { revision: "1" }),
  operation(6, "set-property", { value: "Ledger 2", expected: "1" }, { revision: "2" }),
  operation(5, "set-flag", { value: "1", expected: "0" }, { revision: "3" }),
  operation(6, "set-flag", { value: "2", expected: "3" }, { revision: "4" }),
  operation(5, "publish", { account, event: "p-1", fits: true, data: payload }),
  operation(6, "publish", { account, event: "p-2", fits: false }, { status: 422 }, "fail"),
  operation(6.5, "publish", { account, event: "p-3", fits: true }, {}, "info"),
  operation(8, "start-replay", { account, endpoint: main }, { replay: "replay_1" }),
  operation(5, "rotate-signing-key", { account }, { key: "sign_2", former: "sign_1" }),
  operation(10, "rotate-signing-key", { account }, { key: "sign_3", former: "sign_2" }),
  operation(8, "pull", { endpoint: "pulled" }, { messages: [{ delivery: "whd_1", subject: "img_1", sequence: 1 }] }),
  operation(8.5, "pull-ack", { endpoint: "pulled", delivery: "whd_1", subject: "img_1", sequence: 1 }),
  operation(9, "pull", { endpoint: "pulled" }, { messages: [{ delivery: "whd_2", subject: "img_1", sequence: 2 }] }),
  operation(9.5, "pull-ack", { endpoint: "pulled", delivery: "whd_2", subject: "img_1", sequence: 2 }),
  open(9, "sign_1", 4, "let in"),
  open(11, "sign_1", 4, "let in"),
  open(14, "sign_1", 4, "refused"),
  open(14, "sign_2", 6, "let in"),
  operation(5, "pause-endpoint", { account, endpoint: paused }),
  operation(10, "resume-endpoint", { account, endpoint: paused }),
  operation(6, "delete-endpoint", { account, endpoint: deleted }),
];

const bodyOf = ({ type, data }: LogRecord) =>
  type === "webhook.received" ? `{"data":{"delivery_id":"${data.delivery_id}","payload":${payload}}}` : "{}";
const taken = (deliveryId: string, body = "{}") => ({ deliveryId, status: 200, replay: null, body });
const received = [
  ...log
    .filter(({ topic }) => /image|webhook/.test(topic))
    .map((record) => ({
      t: 11_000,
      endpoint: main,
      eventId: record.eventId,
      type: record.type,
      ...taken(`of ${record.eventId}`, bodyOf(record)),
    })),
  {
    t: 11_000,
    endpoint: main,
    eventId: "p-1",
    type: "ledger.counted",
    ...taken("of p-1", `{"data":${payload},"api_version":"v1"}`),
  },
  {
    t: 11_500,
    endpoint: main,
    eventId: "image.created img_1 0",
    type: "image.created",
    ...taken("of image.created img_1 0"),
    replay: "replay_1",
  },
  ...log
    .filter(({ type }) => type === "image.updated")
    .flatMap(({ eventId, type }) => [
      { t: 12_000, endpoint: paused, eventId, type, ...taken(`paused ${eventId}`), status: 500 },
      { t: 13_000, endpoint: paused, eventId, type, ...taken(`paused ${eventId}`) },
    ]),
];

const step = (id: string, what: string, link: string | null = null): ChainStep => ({
  id,
  what,
  link,
  verdict: "done",
  reason: null,
});

/** The steps of an event, with the deliveries that arrived. */
const stepsOfEvent = (eventId: string): ChainStep[] => [
  step(eventId, "It arrived for delivery."),
  ...received
    .filter((one) => one.eventId === eventId)
    .flatMap(({ deliveryId, status, replay }) => [
      ...(replay === null && status === 200 ? [step(deliveryId, "A delivery of it was created.")] : []),
      step("wha_1", `Attempt 1 was answered with ${status} after 5 ms.`, `/api/v1/webhooks/deliveries/${deliveryId}`),
    ]),
];
const stepsOfThing = (key: string): ChainStep[] =>
  [...new Set(log.flatMap((one) => (one.key === key ? [one.eventId] : [])))].flatMap(stepsOfEvent);
const stored = [step("img_1", "The image was stored."), step("img_1", "image.create.")];
const chain = (kind: Chain["kind"], id: string, steps: readonly ChainStep[]): Chain => ({
  kind,
  id,
  account,
  steps,
  statusOfOther: 404,
});
const keySteps = ["The key was created.", "api_key.create.", "The key was revoked.", "api_key.revoke."];

const chains: readonly Chain[] = [
  chain("image", "img_1", [...stored, ...stepsOfThing("img_1")]),
  chain("image", "img_2", [...stored.map((one) => ({ ...one, id: "img_2" })), ...stepsOfThing("img_2")]),
  chain("image", "img_3", [
    step("img_3", "The image was deleted."),
    step("img_3", "image.create."),
    ...stepsOfThing("img_3"),
  ]),
  chain(
    "key",
    "key_1",
    keySteps.map((what) => step("key_1", what)),
  ),
  chain("event", "p-1", stepsOfEvent("p-1")),
  ...["d-1", "d-2"].map((delivery) =>
    chain("received", `rcv ${delivery}`, [
      step(`rcv ${delivery}`, "It was accepted by the source."),
      ...log.filter(({ data }) => data.delivery_id === delivery).flatMap(({ eventId }) => stepsOfEvent(eventId)),
    ]),
  ),
  chain("replay", "replay_1", [
    step("replay_1", "A replay of 1 deliveries was started."),
    step("replay_1", "The replay ended: 1 of 1 deliveries are queued."),
  ]),
  ...[1, 2, 3].map((number) => chain("request", `req_${number}`, [step("img_1", "image.update: title.")])),
  ...[...new Map(received.map(({ deliveryId, eventId }) => [deliveryId, eventId]))].map(([deliveryId, eventId]) =>
    chain("delivery", deliveryId, stepsOfEvent(eventId)),
  ),
];

/** A short correct story, with a fault, a repeated page, a lost answer and a refusal. */
export const goodEvidence: Evidence = {
  operations,
  log,
  received,
  faults: [{ name: "kill -9", from: 7_000, undoneFrom: 7_500, until: 8_000, halted: [] }],
  endpoints: {
    [main]: { account, types: ["image.*", "webhook.received", "ledger.counted"], deletedAt: null },
    [paused]: { account, types: ["image.updated"], deletedAt: null },
    [deleted]: { account, types: ["image.updated"], deletedAt: 6_100 },
  },
  images: {
    img_1: { account, title: "n-3", status: "ready", sha256: "a" },
    img_2: { account, title: "keyed", status: "ready", sha256: "b" },
  },
  imageRows: [
    { id: "img_1", account, title: "n-3" },
    { id: "img_2", account, title: "keyed" },
  ],
  accounts: { [account]: { name: "right 1", settings: settingsOf("Asia/Tokyo") } },
  webhooks: ["d-1", "d-2"].map((delivery) => ({ source, delivery, received: `rcv ${delivery}` })),
  revokedKeys: ["key_1"],
  overrides: {
    database: { value: "Ledger 2", revision: "2" },
    instances: { "images-1": "Ledger 2", "images-2": "Ledger 2" },
  },
  flags: { database: { value: "2", revision: "4" }, instances: { "config-1": "2" } },
  revisions: ["Ledger 1", "Ledger 2"].map((value, at) => ({ value, revision: String(at + 1) })),
  publications: [{ account, event: "p-1", deliveries: 1 }],
  replays: [{ id: "replay_1", account, status: "done", total: 1, replayed: 1 }],
  chains,
  subscribers: [
    {
      account,
      listeningSince: 4_500,
      told: [
        ...new Set(log.slice(2).flatMap(({ topic, eventId }) => (topic === "signalbox.image.v1" ? [eventId] : []))),
      ],
    },
  ],
  health: [5_000, 7_400, 15_000].map((t) => ({
    t,
    endedAt: t + 50,
    instance: "images-1",
    liveMs: 5,
    live: t === 7_400 ? null : 200,
    ...(t === 7_400 ? { ready: null, read: null } : { ready: 200, read: 200 }),
  })),
  residue: { outbox: 0, parked: 0, "deliveries held": 0 },
};
