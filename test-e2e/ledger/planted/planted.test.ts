import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { ChainStep, Evidence, FinalImage, LogRecord } from "../evidence.ts";
import type { Operation } from "../history.ts";
import { invariants, judge } from "../invariants/invariants.ts";
import { deleted, goodEvidence, main, paused } from "./good-history.ts";

type Planted = (good: Evidence) => Evidence;

/** Changes one member of the evidence. */
const withNew =
  <Member extends keyof Evidence>(member: Member, change: (now: Evidence[Member]) => Evidence[Member]): Planted =>
  (good) => ({ ...good, [member]: change(good[member]) });
const withLog = (change: (log: readonly LogRecord[]) => readonly LogRecord[]) => withNew("log", change);
const without = (isIt: (record: LogRecord) => boolean) => withLog((log) => log.filter((one) => !isIt(one)));
/** Appends a record like the nth one of a type. */
const again = (type: string, more: Partial<LogRecord> = {}, nth = 0) =>
  withLog((log) => [...log, { ...(log.filter((record) => record.type === type)[nth] as LogRecord), ...more }]);
const swapped = (type: string) =>
  withLog((log) => [...log.filter((one) => one.type !== type), ...log.filter((one) => one.type === type).reverse()]);
const withOperations = (change: (one: Operation) => Partial<Operation>) =>
  withNew("operations", (all) => all.map((one) => ({ ...one, ...change(one) })));
const later = (op: string, byMs: number) =>
  withOperations((one) => (one.op === op ? { invokedAt: one.invokedAt + byMs, endedAt: one.endedAt + byMs } : {}));
const withVerdict = (op: string, from: string, to: string) =>
  withOperations((one) => (one.op === op && one.answer.verdict === from ? { answer: { verdict: to } } : {}));
const withImage = (id: string, change: Partial<FinalImage>) =>
  withNew("images", (images) => ({ ...images, [id]: { ...(images[id] as FinalImage), ...change } }));
const received = (endpoint: string, t: number, eventId: string, deliveryId = `late ${eventId}`) =>
  withNew("received", (all) => [
    ...all,
    { t, endpoint, eventId, deliveryId, type: "image.updated", status: 200, replay: null, body: "{}" },
  ]);
const notReceived = (isIt: (receipt: Evidence["received"][number]) => boolean) =>
  withNew("received", (all) => all.filter((one) => !isIt(one)));
const withBody = (event: string, change: (body: string) => string) =>
  withNew("received", (all) =>
    all.map((one) => (one.eventId.startsWith(event) ? { ...one, body: change(one.body) } : one)),
  );
const withTold = (change: (told: readonly string[]) => readonly string[]) =>
  withNew("subscribers", (all) => all.map((one) => ({ ...one, told: change(one.told) })));
const withSteps = (id: string, change: (steps: readonly ChainStep[]) => readonly ChainStep[] | null) =>
  withNew("chains", (all) => all.map((one) => (one.id === id ? { ...one, steps: change(one.steps ?? []) } : one)));
const leftOut: ChainStep = { id: null, what: "More.", verdict: "hole", reason: "left out: too many", link: null };

/** Possible faults of a build, each planted in a correct history, by the invariant that must find it. */
const planted: Readonly<Record<string, Readonly<Record<string, Planted>>>> = {
  "every-ok-is-readable": {
    "an acknowledged upload is gone": withNew("images", ({ img_1 }) => ({ img_1: img_1 as FinalImage })),
    "an acknowledged webhook is not stored": withNew("webhooks", (all) => all.slice(1)),
    "an acknowledged title is overwritten by an older one": withImage("img_1", { title: "n-2" }),
    "an acknowledged flag is undone": withNew("flags", () => ({
      database: { value: "1", revision: "4" },
      instances: {},
    })),
  },
  "bytes-are-whole": {
    "bytes are of another image": withImage("img_2", { sha256: "a" }),
    "an image stays in processing": withImage("img_2", { status: "processing" }),
  },
  "change-and-event": {
    "a commit has no event": without(({ data }) => data.title === "n-2"),
    "an event has no commit": again("webhook.received", { eventId: "x", offset: 99, data: { delivery_id: "d-9" } }),
  },
  "one-event-id": {
    "one change has two event ids": again("webhook.received", { eventId: "another", offset: 99 }, 1),
    "a copy of an event differs": withLog((log) =>
      log.map((record) => (record.offset === 4 ? { ...record, digest: "changed" } : record)),
    ),
  },
  "commit-order": {
    "two webhooks change places": swapped("webhook.received"),
    "an image goes on after its deletion": again("image.deleted", {
      type: "image.rendition_ready",
      eventId: "late",
      offset: 99,
    }),
    "a flag's revisions change places": swapped("flag.changed"),
  },
  "last-event-is-state": {
    "an old state is published last": again("account.settings_updated"),
    "a flag is set and nobody is told": without(({ data }) => data.revision === 4),
  },
  "no-lost-update": {
    "one of two under If-Match is overwritten": withOperations(({ outcome }) =>
      outcome === "fail" ? { outcome: "ok" } : {},
    ),
  },
  "keyed-once": {
    "a keyed upload is there twice": withNew("imageRows", (rows) => [
      ...rows,
      { id: "img_9", account: "acc_1", title: "keyed" },
    ]),
  },
  "delivered-under-one-id": {
    "an event is never delivered": notReceived(({ type }) => type === "image.deleted"),
    "an event comes under two delivery ids": received(paused, 14_000, "image.updated img_1 2"),
    "an endpoint gets events long after its deletion": received(deleted, 60_000, "x", "y"),
  },
  "ended-stays-ended": {
    "a revoked key is let in": withVerdict("probe", "refused", "let in"),
    "a paused endpoint gets events": received(paused, 9_000, "image.updated img_1 2", "paused image.updated img_1 2"),
  },
  "override-everywhere": {
    "an instance runs with an old override": withNew("overrides", (now) => ({
      ...now,
      instances: { ...now.instances, "images-2": "Ledger 1" },
    })),
    "an instance evaluates an old flag": withNew("flags", (now) => ({ ...now, instances: { "config-1": "1" } })),
  },
  "revised-once": {
    "a change of a property is not in its history": withNew("revisions", (all) => all.slice(1)),
    "a change of a property is made twice": withNew("revisions", (all) => [
      ...all,
      { value: "Ledger 2", revision: "3" },
    ]),
    "two changes of a property changed places": withNew("revisions", (all) =>
      all.map(({ value }, at) => ({ value, revision: String(2 - at) })),
    ),
  },
  "published-once": {
    "an event that its type refuses is delivered": withNew("publications", (all) => [
      ...all,
      { account: "acc_1", event: "p-2", deliveries: 1 },
    ]),
    "an accepted event has no delivery": withNew("publications", () => []),
    "a published event has two deliveries": withNew("publications", (all) =>
      all.map((one) => ({ ...one, deliveries: 2 })),
    ),
    "a published event never arrives": notReceived(({ eventId }) => eventId === "p-1"),
  },
  "carried-as-written": {
    "a number of a publisher loses a digit": withBody("p-1", (body) => body.replace("993", "992")),
    "a publisher's members change places": withBody("p-1", (body) => body.replace(/("b":1.10),("1":\d+)/, "$2,$1")),
    "a number of a partner is printed again": withBody("webhook.received", (body) => body.replace("1.10", "1.1")),
  },
  "replayed-once": {
    "a replay leaves a delivery out": notReceived(({ replay }) => replay !== null),
    "a replay stops half way": withNew("replays", (all) => all.map((one) => ({ ...one, total: 2 }))),
    "a replay runs twice": withNew("replays", (all) => [...all, ...all.map((one) => ({ ...one, id: "replay_2" }))]),
  },
  "told-in-order": {
    "a subscriber misses an event": withTold((told) => told.filter((_, at) => at !== 1)),
    "a subscriber is told nothing": withTold(() => []),
    "a subscriber is told an event twice": withTold((told) => [...told, ...told.slice(-1)]),
    "a subscriber is told of a later change first": withTold((told) => told.toReversed()),
    "a subscriber is told of what another account owns": withNew("subscribers", (all) =>
      all.map((one) => ({ ...one, account: "acc_2" })),
    ),
  },
  "signed-urls-hold": {
    "a URL of a key that was rotated away is let in": withVerdict("open-url", "refused", "let in"),
    "a URL that holds is refused": withVerdict("open-url", "let in", "refused"),
  },
  "pulled-once": { "a message comes again after its acknowledgement": later("pull", 1_000) },
  "pulled-in-order": { "the second message of a subject comes beside the first": later("pull-ack", 5_000) },
  "nothing-left": {
    "a delivery is held for ever": withNew("residue", (residue) => ({ ...residue, "deliveries held": 1 })),
    "a message is given up": again("image.updated", { topic: "signalbox.images.dead-letters.v1" }),
  },
  "health-is-true": {
    "a process says ready and answers 503": withNew("health", (all) =>
      all.map((one) => (one.t === 5_000 ? { ...one, read: 503 } : one)),
    ),
  },
  "steps-back": {
    "a repeated page leaves an event out": withLog((log) => [
      ...log,
      ...log.filter(({ offset }) => [1, 3, 6].includes(offset)),
    ]),
    "an event comes back after newer ones": again("image.created"),
  },
  "why-is-true": {
    "nothing is known of an accepted event": withSteps("p-1", () => null),
    "why of an event is not asked": withNew("chains", (all) => all.slice(1)),
    "a chain leaves out a delivery that arrived": withSteps("rcv d-1", (steps) =>
      steps.filter(({ what }) => !what.includes("delivery")),
    ),
    "a chain has an attempt that nobody made": withSteps("p-1", (steps) => [
      ...steps,
      ...steps.filter(({ what }) => what.startsWith("Attempt")),
    ]),
    "a chain leaves steps out without need": withSteps("img_2", (steps) => [...steps, leftOut]),
    "the chain of a key is shown to another account": withNew("chains", (all) =>
      all.map((one) => (one.id === "key_1" ? { ...one, statusOfOther: 200 } : one)),
    ),
  },
};

test("a good history with faults, repetitions, lost answers or refusals breaks nothing", () => {
  assert.deepEqual(judge(goodEvidence), []);
  assert.ok(goodEvidence.received.some(({ endpoint }) => endpoint === main));
});

test("the chain of an image whose deletion was not answered says that it is stored or that it was deleted", () => {
  const unanswered = withOperations(({ op }) => (op === "delete-image" ? { outcome: "info" } : {}));
  const says = (what: string) =>
    withSteps("img_3", (steps) =>
      steps.map((step) => (step.what === "The image was deleted." ? { ...step, what } : step)),
    );
  const chainIsTrue = (what: string) =>
    judge(says(what)(unanswered(goodEvidence))).every(({ invariant }) => invariant !== "why-is-true");
  assert.deepEqual(["The image was deleted.", "The image was stored.", "The image was read."].map(chainIsTrue), [
    true,
    true,
    false,
  ]);
});

for (const [invariant, faults] of Object.entries(planted)) {
  for (const [what, plant] of Object.entries(faults)) {
    test(`planted: ${what}`, () => {
      const broken = judge(plant(goodEvidence)).map((one) => one.invariant);
      assert.ok(broken.includes(invariant), `caught by ${broken.join(", ") || "nothing"}`);
    });
  }
}

test("every invariant has a planted fault that it catches", () => {
  assert.deepEqual(Object.keys(planted).sort(), invariants.map(({ name }) => name).sort());
});

test("the architecture says what holds by exactly the names of the invariants", async () => {
  const page = await readFile(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
  const [, section = ""] = /## Guarantees\n(.*?)What is \*\*not\*\* promised/s.exec(page) ?? [];
  const named = [...section.matchAll(/`([a-z]+(?:-[a-z0-9]+)+)`/g)].map(([, name]) => name);
  assert.deepEqual(named.sort(), invariants.map(({ name }) => name).sort());
});
