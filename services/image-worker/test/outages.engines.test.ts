import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { draft, type EventData, topics } from "@signalbox/contracts";
import { newId, randomId } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, openEventLog, publishEvents } from "@signalbox/events";
import { openObjectStore } from "@signalbox/storage";
import {
  createTcpProxy,
  eventually,
  readFixture,
  type TcpProxy,
  type TestContext,
  type TestDatabase,
  testContext,
  testDatabase,
  testS3,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

let database: TestDatabase;
let s3: TcpProxy;
let context: TestContext<typeof properties>;
let eventLog: EventLog;
const answers: EventData<"image.rendered">[] = [];

before(async () => {
  const bucket = await testS3();
  [database, s3] = await Promise.all([testDatabase(), createTcpProxy({ port: Number(new URL(bucket.origin).port) })]);
  context = testContext("image-worker", properties, {
    "events.url": database.url,
    "blobs.url": s3.urlFor(bucket.url),
    "blobs.access-key": bucket.accessKey,
    "blobs.secret-key": bucket.secretKey,
  });
  eventLog = await openEventLog(database.url, { ...context, clientId: "worker-tests" });
  await eventLog.ensureTopics(topics);
  await eventLog.broadcast({
    service: "worker-tests",
    instance: context.instance,
    topics: ["signalbox.image-rendered.v1"],
    from: "start",
    onRecord: (record) => {
      if (eventNameOf(record.headers)) answers.push(decodeEvent("image.rendered", record).data);
    },
  });
  await createService(context);
});
after(async () => {
  await context.close();
  await Promise.all([database.close(), s3.close()]);
});

test("an outage of the blob store delays a job instead of failing it", async () => {
  const original = await readFixture("small.webp");
  const sha256 = createHash("sha256").update(original).digest("hex");
  const key = `originals/${sha256}`;
  const { configuration } = context;
  const store = await openObjectStore({
    ...context,
    url: configuration.get("blobs.url"),
    accessKey: configuration.get("blobs.access-key"),
    secretKey: configuration.get("blobs.secret-key"),
  });
  await store.put(key, original, { size: original.length, contentType: "image/webp" });
  const box = { width: 20, height: null, fit: "inside", format: "webp", quality: null, enlarge: false } as const;
  const job: EventData<"image.render_requested"> = {
    job_id: newId("job"),
    image_id: randomId("img"),
    attempt: 1,
    focal_point: null,
    placeholder: false,
    original: { key, mime_type: "image/webp", sha256, size_bytes: original.length },
    renditions: [{ name: "thumbnail", key: "k", ...box }],
  };

  await s3.refuse();
  const event = draft("image.render_requested", { subject: job.image_id, accountId: null, data: job });
  await publishEvents({ ...context, eventLog, service: "images" }, [event]);
  await eventually(() => context.logged.some(({ msg }) => String(msg).includes("waits for an unavailable dependency")));
  assert.equal(answers.length, 0);
  await s3.accept();
  const answer = await eventually(() => answers.filter(({ job_id }) => job_id === job.job_id)[0] ?? null);
  assert.deepEqual([answer.outcome, answer.renditions.length], ["rendered", 1]);
});
