import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Chain, Evidence, LogRecord } from "../evidence.ts";
import { invariants, judge } from "../invariants/invariants.ts";
import { deleted, goodEvidence, main, paused } from "./good-history.ts";

type Planted = (good: Evidence) => Evidence;

const without = (isIt: (record: LogRecord) => boolean): Planted => withLog((log) => log.filter((one) => !isIt(one)));
const withLog =
  (change: (log: readonly LogRecord[]) => readonly LogRecord[]): Planted =>
  (good) => ({ ...good, log: change(good.log) });
const find = (log: readonly LogRecord[], type: string, nth = 0) =>
  log.filter((record) => record.type === type)[nth] as LogRecord;
const received = (endpoint: string, t: number, eventId: string, deliveryId = `late ${eventId}`): Planted =>
  function addReceipt(good) {
    const receipt = { t, endpoint, eventId, deliveryId, type: "image.updated", status: 200, replay: null };
    return { ...good, received: [...good.received, receipt] };
  };

const swapped = (type: string) => (log: readonly LogRecord[]) => [
  ...log.filter((one) => one.type !== type),
  ...log.filter((one) => one.type === type).reverse(),
];
const withTold =
  (change: (told: readonly string[]) => readonly string[]): Planted =>
  (good) => ({ ...good, subscribers: good.subscribers.map((one) => ({ ...one, told: change(one.told) })) });
const withVerdict = (good: Evidence, from: string, to: string): Evidence => ({
  ...good,
  operations: good.operations.map((one) =>
    one.op === "open-url" && one.answer.verdict === from ? { ...one, answer: { verdict: to } } : one,
  ),
});

const withChain =
  (id: string, change: (chain: Chain) => Chain): Planted =>
  (good) => ({ ...good, chains: good.chains.map((one) => (one.id === id ? change(one) : one)) });

/** Possible faults of a build, each planted in a correct history, with the invariant that must find it. */
const planted: readonly (readonly [what: string, invariant: string, plant: Planted])[] = [
  [
    "an acknowledged upload is gone",
    "every-ok-is-readable",
    (good) => ({ ...good, images: { img_1: good.images.img_1 as never } }),
  ],
  [
    "an acknowledged webhook is not stored",
    "every-ok-is-readable",
    (good) => ({ ...good, webhooks: good.webhooks.slice(1) }),
  ],
  [
    "an acknowledged title is overwritten by an older one",
    "every-ok-is-readable",
    (good) => ({
      ...good,
      images: { ...good.images, img_1: { ...(good.images.img_1 as never as object), title: "n-2" } as never },
    }),
  ],
  [
    "bytes are of another image",
    "bytes-are-whole",
    (good) => ({
      ...good,
      images: { ...good.images, img_2: { ...(good.images.img_2 as never as object), sha256: "a" } as never },
    }),
  ],
  [
    "an image stays in processing",
    "bytes-are-whole",
    (good) => ({
      ...good,
      images: { ...good.images, img_2: { ...(good.images.img_2 as never as object), status: "processing" } as never },
    }),
  ],
  ["a commit has no event", "change-and-event", without(({ data }) => data.title === "n-2")],
  [
    "an event has no commit",
    "change-and-event",
    withLog((log) => [
      ...log,
      { ...find(log, "webhook.received"), eventId: "x", offset: 99, data: { delivery_id: "d-9" } },
    ]),
  ],
  [
    "one change has two event ids",
    "one-event-id",
    withLog((log) => [...log, { ...find(log, "webhook.received", 1), eventId: "another", offset: 99 }]),
  ],
  [
    "a copy of an event differs",
    "one-event-id",
    withLog((log) => log.map((record) => (record.offset === 4 ? { ...record, digest: "changed" } : record))),
  ],
  [
    "two webhooks change places",
    "commit-order",
    withLog((log) => [
      ...log.filter(({ type }) => type !== "webhook.received"),
      ...log.filter(({ type }) => type === "webhook.received").reverse(),
    ]),
  ],
  [
    "an image goes on after its deletion",
    "commit-order",
    withLog((log) => [
      ...log,
      { ...find(log, "image.deleted"), type: "image.rendition_ready", eventId: "late", offset: 99 },
    ]),
  ],
  [
    "an old state is published last",
    "last-event-is-state",
    withLog((log) => [...log, find(log, "account.settings_updated")]),
  ],
  [
    "one of two under If-Match is overwritten",
    "no-lost-update",
    (good) => ({
      ...good,
      operations: good.operations.map((one) => (one.outcome === "fail" ? { ...one, outcome: "ok" as const } : one)),
    }),
  ],
  [
    "a keyed upload is there twice",
    "keyed-once",
    (good) => ({ ...good, imageRows: [...good.imageRows, { id: "img_9", account: "acc_1", title: "keyed" }] }),
  ],
  [
    "an event is never delivered",
    "delivered-under-one-id",
    (good) => ({ ...good, received: good.received.filter(({ type }) => type !== "image.deleted") }),
  ],
  [
    "an event comes under two delivery ids",
    "delivered-under-one-id",
    received(paused, 14_000, "image.updated img_1 2"),
  ],
  ["an endpoint gets events long after its deletion", "delivered-under-one-id", received(deleted, 60_000, "x", "y")],
  [
    "a revoked key is let in",
    "ended-stays-ended",
    (good) => ({
      ...good,
      operations: good.operations.map((one) => (one.op === "probe" ? { ...one, answer: { verdict: "let in" } } : one)),
    }),
  ],
  [
    "a paused endpoint gets events",
    "ended-stays-ended",
    received(paused, 9_000, "image.updated img_1 2", "paused image.updated img_1 2"),
  ],
  [
    "an instance runs with an old override",
    "override-everywhere",
    (good) => ({
      ...good,
      overrides: { ...good.overrides, instances: { ...good.overrides.instances, "images-2": "Ledger 1" } },
    }),
  ],
  [
    "an instance evaluates an old flag",
    "override-everywhere",
    (good) => ({ ...good, flags: { ...good.flags, instances: { "config-1": "1" } } }),
  ],
  [
    "a change of a property is not in its history",
    "revised-once",
    (good) => ({ ...good, revisions: good.revisions.slice(1) }),
  ],
  [
    "a change of a property is made twice",
    "revised-once",
    (good) => ({ ...good, revisions: [...good.revisions, { value: "Ledger 2", revision: "3" }] }),
  ],
  [
    "two changes of a property changed places",
    "revised-once",
    (good) => ({ ...good, revisions: good.revisions.map(({ value }, at) => ({ value, revision: String(2 - at) })) }),
  ],
  ["a flag is set and nobody is told", "last-event-is-state", without(({ data }) => data.revision === 4)],
  ["a flag's revisions change places", "commit-order", withLog(swapped("flag.changed"))],
  [
    "an acknowledged flag is undone",
    "every-ok-is-readable",
    (good) => ({ ...good, flags: { database: { value: "1", revision: "4" }, instances: {} } }),
  ],
  [
    "an event that its type refuses is delivered",
    "published-once",
    (good) => ({ ...good, publications: [...good.publications, { account: "acc_1", event: "p-2", deliveries: 1 }] }),
  ],
  ["an accepted event has no delivery", "published-once", (good) => ({ ...good, publications: [] })],
  [
    "a published event has two deliveries",
    "published-once",
    (good) => ({ ...good, publications: good.publications.map((one) => ({ ...one, deliveries: 2 })) }),
  ],
  [
    "a published event never arrives",
    "published-once",
    (good) => ({ ...good, received: good.received.filter(({ eventId }) => eventId !== "p-1") }),
  ],
  [
    "a replay leaves a delivery out",
    "replayed-once",
    (good) => ({ ...good, received: good.received.filter(({ replay }) => replay === null) }),
  ],
  [
    "a replay stops half way",
    "replayed-once",
    (good) => ({ ...good, replays: good.replays.map((one) => ({ ...one, total: 2 })) }),
  ],
  [
    "a replay runs twice",
    "replayed-once",
    (good) => ({ ...good, replays: [...good.replays, { ...good.replays[0], id: "replay_2" } as never] }),
  ],
  ["a subscriber misses an event", "told-in-order", withTold((told) => told.filter((_, at) => at !== 1))],
  ["a subscriber is told nothing", "told-in-order", withTold(() => [])],
  ["a subscriber is told an event twice", "told-in-order", withTold((told) => [...told, ...told.slice(-1)])],
  ["a subscriber is told of a later change first", "told-in-order", withTold((told) => told.toReversed())],
  [
    "a subscriber is told of what another account owns",
    "told-in-order",
    (good) => ({ ...good, subscribers: good.subscribers.map((one) => ({ ...one, account: "acc_2" })) }),
  ],
  [
    "a URL of a key that was rotated away is let in",
    "signed-urls-hold",
    (good) => withVerdict(good, "refused", "let in"),
  ],
  ["a URL that holds is refused", "signed-urls-hold", (good) => withVerdict(good, "let in", "refused")],
  [
    "a message comes again after its acknowledgement",
    "pulled-once",
    (good) => ({
      ...good,
      operations: good.operations.map((one) =>
        one.op === "pull" ? { ...one, invokedAt: one.invokedAt + 1_000, endedAt: one.endedAt + 1_000 } : one,
      ),
    }),
  ],
  [
    "the second message of a subject comes beside the first",
    "pulled-in-order",
    (good) => ({
      ...good,
      operations: good.operations.map((one) =>
        one.op === "pull-ack" ? { ...one, invokedAt: one.invokedAt + 5_000, endedAt: one.endedAt + 5_000 } : one,
      ),
    }),
  ],
  [
    "a delivery is held for ever",
    "nothing-left",
    (good) => ({ ...good, residue: { ...good.residue, "deliveries held": 1 } }),
  ],
  [
    "a message is given up",
    "nothing-left",
    withLog((log) => [...log, { ...find(log, "image.updated"), topic: "signalbox.images.dead-letters.v1" }]),
  ],
  [
    "a process says ready and answers 503",
    "health-is-true",
    (good) => ({ ...good, health: good.health.map((one) => (one.t === 5_000 ? { ...one, read: 503 } : one)) }),
  ],
  [
    "a repeated page leaves an event out",
    "steps-back",
    withLog((log) => [...log, ...log.filter(({ offset }) => [1, 3, 6].includes(offset))]),
  ],
  ["nothing is known of an accepted event", "why-is-true", withChain("p-1", (one) => ({ ...one, steps: null }))],
  ["why of an event is not asked", "why-is-true", (good) => ({ ...good, chains: good.chains.slice(1) })],
  [
    "a chain leaves out a delivery that arrived",
    "why-is-true",
    withChain("rcv d-1", (one) => ({
      ...one,
      steps: one.steps?.filter(({ what }) => !what.includes("delivery")) ?? null,
    })),
  ],
  [
    "a chain has an attempt that nobody made",
    "why-is-true",
    withChain("p-1", (one) => ({
      ...one,
      steps: [...(one.steps ?? []), ...(one.steps ?? []).filter(({ what }) => what.startsWith("Attempt"))],
    })),
  ],
  [
    "a chain leaves steps out without need",
    "why-is-true",
    withChain("img_2", (one) => ({
      ...one,
      steps: [
        ...(one.steps ?? []),
        { id: null, what: "More.", verdict: "hole", reason: "left out: too many", link: null },
      ],
    })),
  ],
  [
    "the chain of a key is shown to another account",
    "why-is-true",
    withChain("key_1", (one) => ({ ...one, statusOfOther: 200 })),
  ],
  ["an event comes back after newer ones", "steps-back", withLog((log) => [...log, find(log, "image.created")])],
];

test("a good history with faults, repetitions, lost answers or refusals breaks nothing", () => {
  assert.deepEqual(judge(goodEvidence), []);
  assert.ok(goodEvidence.received.some(({ endpoint }) => endpoint === main));
});

test("the chain of an image whose deletion was not answered says that it is stored or that it was deleted", () => {
  const unanswered: Planted = (good) => ({
    ...good,
    operations: good.operations.map((one) => (one.op === "delete-image" ? { ...one, outcome: "info" } : one)),
  });
  const says = (what: string) =>
    withChain("img_3", (one) => ({
      ...one,
      steps: (one.steps ?? []).map((step) => (step.what === "The image was deleted." ? { ...step, what } : step)),
    }));
  const chainIsTrue = (what: string) =>
    judge(says(what)(unanswered(goodEvidence))).every(({ invariant }) => invariant !== "why-is-true");
  assert.deepEqual(["The image was deleted.", "The image was stored.", "The image was read."].map(chainIsTrue), [
    true,
    true,
    false,
  ]);
});

for (const [what, invariant, plant] of planted) {
  test(`planted: ${what}`, () => {
    const broken = judge(plant(goodEvidence)).map((one) => one.invariant);
    assert.ok(broken.includes(invariant), `caught by ${broken.join(", ") || "nothing"}`);
  });
}

test("every invariant has a planted fault that it catches", () => {
  const meant = new Set(planted.map(([, invariant]) => invariant));
  assert.deepEqual(
    invariants.filter(({ name }) => !meant.has(name)).map(({ name }) => name),
    [],
  );
});

test("the architecture says what holds by exactly the names of the invariants", async () => {
  const page = await readFile(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
  const [, section = ""] = /## What holds\n(.*?)What is \*\*not\*\* promised/s.exec(page) ?? [];
  const named = [...section.matchAll(/`([a-z]+(?:-[a-z0-9]+)+)`/g)].map(([, name]) => name);
  assert.deepEqual(named.sort(), invariants.map(({ name }) => name).sort());
});
