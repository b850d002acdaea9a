import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { draft, type EventData, topics } from "@signalbox/contracts";
import { newId, randomId } from "@signalbox/core";
import {
  decodeEvent,
  type EventLog,
  eventNameOf,
  openEventLog,
  publishEvents,
  type ReceivedEvent,
} from "@signalbox/events";
import { renditionKey } from "@signalbox/imaging";
import { type ObjectStore, openObjectStore } from "@signalbox/storage";
import {
  childProcesses,
  eventually,
  type FixtureName,
  killProcess,
  readFixture,
  type TestContext,
  type TestDatabase,
  testContext,
  testDatabase,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Job = EventData<"image.render_requested">;

let database: TestDatabase;
let folder: string;
let context: TestContext<typeof properties>;
let service: Awaited<ReturnType<typeof createService>>;
let eventLog: EventLog;
let objects: ObjectStore;
const answers: ReceivedEvent<"image.rendered">[] = [];

before(async () => {
  [database, folder] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), "signalbox-worker-test-"))]);
  context = testContext("image-worker", properties, { "events.url": database.url, "blobs.url": `file:${folder}` });
  eventLog = await openEventLog(database.url, { ...context, clientId: "worker-tests" });
  await eventLog.ensureTopics(topics);
  objects = await openObjectStore({ ...context, url: `file:${folder}`, accessKey: null, secretKey: null });
  await eventLog.broadcast({
    service: "worker-tests",
    instance: context.instance,
    topics: ["signalbox.image-rendered.v1"],
    from: "start",
    onRecord: (record) => {
      if (eventNameOf(record.headers) === "image.rendered") answers.push(decodeEvent("image.rendered", record));
    },
  });
  service = await createService(context);
});
after(async () => {
  await context.close();
  await Promise.all([database.close(), rm(folder, { recursive: true })]);
});

const box = { enlarge: false, quality: null, format: "webp" } as const;
const thumbnail = { ...box, width: 200, height: 200, fit: "cover" } as const;
const small = { ...box, width: 480, height: null, fit: "inside", format: "jpeg" } as const;

async function jobFor(original: Buffer, change: Partial<Job> = {}): Promise<Job> {
  const sha256 = createHash("sha256").update(original).digest("hex");
  const key = `originals/${sha256}`;
  await objects.put(key, original, { size: original.length, contentType: "image/jpeg", ifAbsent: true });
  const keyOf = (rendition: typeof thumbnail | typeof small) =>
    renditionKey(sha256, { ...rendition, focalPoint: null });
  return {
    job_id: newId("job"),
    image_id: randomId("img"),
    attempt: 1,
    original: { key, mime_type: "image/jpeg", sha256, size_bytes: original.length },
    focal_point: null,
    renditions: [
      { name: "thumbnail", key: keyOf(thumbnail), ...thumbnail },
      { name: "small", key: keyOf(small), ...small },
    ],
    placeholder: false,
    ...change,
  };
}

async function answerTo(job: Job, count = 1): Promise<EventData<"image.rendered">> {
  const event = draft("image.render_requested", { subject: job.image_id, accountId: "acc_1", data: job });
  await publishEvents({ ...context, eventLog, service: "images" }, [event]);
  const own = await eventually(() => {
    const found = answers.filter(({ data }) => data.job_id === job.job_id);
    return found.length >= count && found;
  });
  return (own.at(-1) as ReceivedEvent<"image.rendered">).data;
}

const fixture = async (name: FixtureName) => jobFor(await readFixture(name));

test("a job's renditions are stored under their keys, the thumbnail first, and the answer describes them", async () => {
  const job = await fixture("photo-rotated.jpg");
  const answer = await answerTo({ ...job, placeholder: true });
  assert.deepEqual([answer.outcome, answer.failure, answer.image_id], ["rendered", null, job.image_id]);
  assert.deepEqual(
    answer.renditions.map(({ name, mime_type, width }) => [name, mime_type, width]),
    [
      ["thumbnail", "image/webp", 200],
      ["small", "image/jpeg", 480],
    ],
  );
  assert.equal(typeof answer.placeholder, "string");
  for (const { key, size_bytes, sha256 } of answer.renditions) {
    const stored = await objects.get(key);
    const bytes = Buffer.concat((await stored?.stream.toArray()) as Buffer[]);
    assert.deepEqual([bytes.length, createHash("sha256").update(bytes).digest("hex")], [size_bytes, sha256]);
    assert.ok(!bytes.includes("Fixture One"));
  }
});

test("a rendition with an overlay is stored under a key of its own, with the overlay's pixels", async () => {
  const logo = await readFixture("animated.gif");
  const sha256 = createHash("sha256").update(logo).digest("hex");
  const key = `originals/${sha256}`;
  await objects.put(key, logo, { size: logo.length, contentType: "image/gif", ifAbsent: true });
  const job = await fixture("photo.jpg");
  const overlay = { key, sha256, position: "center", width: 50, opacity: 100, margin: 0 } as const;
  const renditions = [
    { name: null, key: "plain", ...small },
    { name: null, key: "overlaid", ...small, overlay },
  ];
  const { outcome, renditions: made } = await answerTo({ ...job, renditions });
  assert.equal(outcome, "rendered");
  assert.match(made[1]?.key ?? "", new RegExp(`-overlay${sha256.slice(0, 32)}_center_50_100_0-`));
  assert.notEqual(made[0]?.sha256, made[1]?.sha256);
});

test("a job whose overlay is gone fails for good", async () => {
  const job = await fixture("photo.jpg");
  const gone = "ef".repeat(32);
  const overlay = {
    key: `originals/${gone}`,
    sha256: gone,
    position: "center",
    width: 50,
    opacity: 100,
    margin: 0,
  } as const;
  const { failure } = await answerTo({ ...job, renditions: [{ name: null, key: "overlaid", ...small, overlay }] });
  assert.deepEqual([failure?.code, failure?.retryable], ["overlay_missing", false]);
});

test("the same job again changes neither its answer nor its blobs", async () => {
  const job = await fixture("photo.jpg");
  const first = await answerTo(job);
  const heads = await Promise.all(first.renditions.map(({ key }) => objects.head(key)));
  const again = await answerTo(job, 2);
  assert.deepEqual(again.renditions, first.renditions);
  assert.deepEqual(await Promise.all(first.renditions.map(({ key }) => objects.head(key))), heads);
});

test("every accepted format is rendered, an animation in all its frames", async () => {
  for (const name of [
    "alpha.png",
    "animated.gif",
    "small.webp",
    "small.avif",
    "small.tiff",
    "one-pixel.png",
  ] as const) {
    assert.equal((await answerTo(await fixture(name))).outcome, "rendered", name);
  }
});

test("an original that is truncated, no image or missing is answered as a permanent failure with its reason", async () => {
  const gone = await fixture("alpha.png");
  const cases: [Job, string][] = [
    [await fixture("truncated.jpg"), "decode_failed"],
    [await jobFor(Buffer.from("no image")), "unreadable"],
    [{ ...gone, original: { ...gone.original, key: "originals/none" } }, "original_missing"],
  ];
  for (const [job, code] of cases) {
    const { outcome, failure } = await answerTo(job);
    assert.deepEqual([outcome, failure?.code, failure?.retryable], ["failed", code, false]);
  }
});

test("an animation within the limits of its service is rendered although each frame is small", async () => {
  const job = await fixture("animated.gif");
  const answer = await answerTo({ ...job, renditions: [{ name: "small", key: "k", ...small, format: "gif" }] });
  assert.equal(answer.renditions[0]?.mime_type, "image/gif");
  assert.notEqual(answer.renditions[0]?.key, "k", "the worker computes the keys itself");
});

test("a job whose process dies is answered as a temporary failure with its reason", async () => {
  // Only busy processes, not starting ones: a job that no process has started is given to another one.
  const busyChildren = () => childProcesses("image-process", { busyMs: 500 });
  const job = await fixture("photo.jpg");
  const large = { ...box, name: "large", key: "k", width: null, height: null, fit: "inside", format: "avif" } as const;
  const state = { done: false };
  const answered = answerTo({ ...job, renditions: [large] }).finally(() => Object.assign(state, { done: true }));
  await eventually(async () => {
    for (const pid of await busyChildren()) killProcess(pid);
    return state.done;
  });
  const { outcome, failure } = await answered;
  assert.deepEqual([outcome, failure?.code, failure?.retryable], ["failed", "interrupted", true]);
  assert.equal((await answerTo(await fixture("alpha.png"))).outcome, "rendered");
});

test("info shows the limits of the decoding processes", () => {
  const info = JSON.stringify(service.info?.());
  assert.match(info, /"memoryBound":"(kernel|sampled)","loaders":"allow-list"/);
});
