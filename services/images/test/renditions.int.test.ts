import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, type EventData } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

type Job = ReceivedEvent<"image.render_requested">;
type Answer = EventData<"image.rendered">;

let images: Harness;
before(async () => {
  images = await startImages();
});
after(() => images.close());

/** Uploads an image and returns it with its render job. */
async function uploaded(who: TestPerson) {
  const { id, sha256 } = (await images.upload(who, await readFixture("photo.jpg"))).body;
  return { id, sha256, job: await jobOf(who, 1) };
}

async function jobOf(who: TestPerson, attempt: number): Promise<Job> {
  return eventually(async () => {
    const events = await images.eventsOf(who.accountId, 2);
    const jobs = events.filter((event) => event.name === "image.render_requested") as Job[];
    return jobs.find(({ data }) => data.attempt === attempt) ?? null;
  });
}

/** Answers a job like the worker. */
async function answer(job: Job, change: Partial<Answer> = {}, to: Harness = images): Promise<void> {
  const { job_id, image_id, attempt, renditions } = job.data;
  const sizes = { mime_type: "image/jpeg", width: 1, height: 1, size_bytes: 1, sha256: "0".repeat(64) };
  const data: Answer = {
    job_id,
    image_id,
    attempt,
    outcome: "rendered",
    placeholder: null,
    failure: null,
    duration_ms: 1,
    renditions: renditions.map(({ name, key }) => ({ name, key, ...sizes })),
    ...change,
  };
  await to.publish(draft("image.rendered", { subject: image_id, accountId: job.accountId, data }));
}

const statusOf = async (who: TestPerson, id: string) => (await images.send(who, "GET", `/images/${id}`)).body.status;
const namesOf = async (who: TestPerson, count: number) =>
  (await images.eventsOf(who.accountId, count)).map(({ name }) => name);
const failure = { code: "decode_failed", message: "No.", retryable: false };

test("the job names the variants, the thumbnail first, under the keys that requests use", async () => {
  const who = testPerson();
  const { id, sha256, job } = await uploaded(who);
  const named = job.data.renditions.map(({ name, format }) => `${name} ${format}`);
  assert.deepEqual(named, ["thumbnail jpeg", "thumbnail webp", "small jpeg", "medium jpeg", "large jpeg"]);
  assert.deepEqual(job.data.original, {
    key: `originals/${who.accountId}/${sha256}`,
    mime_type: "image/jpeg",
    sha256,
    size_bytes: (await readFixture("photo.jpg")).length,
  });
  const { variants } = (await images.send(who, "GET", `/images/${id}`)).body;
  for (const [name, url] of Object.entries<string>(variants)) {
    await images.send(who, "GET", url.replace(/^https?:\/\/[^/]+/, ""));
    const { key } = job.data.renditions.find((one) => one.name === name) ?? {};
    await eventually(async () => (await images.blobKeys()).includes(key ?? ""), { message: name });
  }
});

test("an image becomes ready when its variants are stored, with one event for repeated answers", async () => {
  const who = testPerson();
  const { id, job } = await uploaded(who);
  const before = (await images.send(who, "GET", `/images/${id}`)).headers.get("etag");
  await answer(job);
  await answer(job);
  await eventually(async () => (await statusOf(who, id)) === "ready");
  assert.notEqual((await images.send(who, "GET", `/images/${id}`)).headers.get("etag"), before);
  await images.send(who, "PATCH", `/images/${id}`, { body: { title: "after" } });
  const names = await namesOf(who, 4);
  assert.equal(names.filter((name) => name === "image.rendition_ready").length, 1);
});

test("a temporary failure is retried under new jobs until the image has failed, with one event", async () => {
  const who = testPerson();
  const { id, job } = await uploaded(who);
  const failed: Partial<Answer> = { outcome: "failed", renditions: [], failure: { ...failure, retryable: true } };
  await answer(job, failed);
  const second = await jobOf(who, 2);
  assert.notEqual(second.data.job_id, job.data.job_id);
  await answer(job);
  await answer(second, failed);
  await answer(await jobOf(who, 3), failed);
  await eventually(async () => (await statusOf(who, id)) === "failed");
  const events = await images.eventsOf(who.accountId, 5);
  const given = events.filter(({ name }) => name === "image.processing_failed");
  assert.deepEqual(
    given.map(({ data }) => (data as { reason: string }).reason),
    ["decode_failed"],
  );
});

test("a permanent failure is final", async () => {
  const who = testPerson();
  const { id, job } = await uploaded(who);
  await answer(job, { outcome: "failed", renditions: [], failure });
  await eventually(async () => (await statusOf(who, id)) === "failed");
  assert.equal((await namesOf(who, 3)).filter((name) => name === "image.render_requested").length, 1);
});

test("a failed image with its reason is retried once at its owner's request", async () => {
  const who = testPerson();
  const { id, job } = await uploaded(who);
  const record = async () => (await images.send(who, "GET", `/images/${id}`)).body;
  const reprocess = () => images.send(who, "POST", `/images/${id}/reprocess`);
  assert.match((await record()).dominant_color, /^#[0-9a-f]{6}$/);
  assert.equal((await record()).failure, null);
  await answer(job, { outcome: "failed", renditions: [], failure });
  await eventually(async () => (await statusOf(who, id)) === "failed");
  const { failure: shown, updated_at } = await record();
  assert.deepEqual(shown, { code: "decode_failed", at: updated_at, attempts: 1 });
  const found = async (status: string) =>
    (await images.send(who, "GET", `/images?status=${status}`)).body.items.map((one: { id: string }) => one.id);
  assert.deepEqual([await found("failed"), await found("ready")], [[id], []]);
  assert.equal((await images.send(who, "GET", "/images?status=lost")).status, 400);
  assert.equal((await images.send(testPerson(), "POST", `/images/${id}/reprocess`)).status, 404);

  const again = await reprocess();
  assert.deepEqual([again.status, again.body.status, again.body.failure], [200, "processing", null]);
  const [second] = (await images.eventsOf(who.accountId, 2, "image.render_requested")).slice(1) as unknown as Job[];
  assert.ok(second && second.data.job_id !== job.data.job_id);
  await answer(job, { outcome: "failed", renditions: [], failure });
  await answer(second);
  await eventually(async () => (await statusOf(who, id)) === "ready");
  const kept = await reprocess();
  assert.deepEqual(
    [kept.status, kept.body.status],
    [200, "ready"],
    "a ready image is rendered again in the background",
  );
  assert.equal((await images.eventsOf(who.accountId, 3, "image.render_requested")).length, 3);
  const changes = await images.eventsOf(who.accountId, 1, "image.updated");
  const changed = changes.map(({ data }) => (data as { changed: string[] }).changed);
  assert.deepEqual(changed, [["status", "failure"]]);
});

test("GraphQL shows failed images by the rules of REST", async () => {
  const who = testPerson();
  const [{ id, job }, other] = [await uploaded(who), (await images.upload(who, await readFixture("alpha.png"))).body];
  await answer(job, { outcome: "failed", renditions: [], failure });
  await eventually(async () => (await statusOf(who, id)) === "failed");
  const list = `query ($of: [_Any!]!, $status: ImageStatus, $type: String) { _entities(representations: $of) {
    ... on Account { images(status: $status, mimeType: $type, tag: null) {
      edges { node { id failure { code attempts } dominantColor } } } } } }`;
  const idsOf = async (variables: object) => {
    const of = [{ __typename: "Account", id: who.accountId }];
    const { data } = await images.graphql(who, list, { of, ...variables });
    return data._entities[0].images.edges.map(({ node }: { node: { id: string } }) => node.id);
  };
  assert.deepEqual(await idsOf({ status: "failed" }), [id]);
  assert.deepEqual(await idsOf({ type: "image/png" }), [other.id]);
  assert.deepEqual(await idsOf({}), [other.id, id]);
  const of = [{ __typename: "Account", id: who.accountId }];
  const unknown = (await images.graphql(who, list, { of, type: "image/unknown" })).errors[0].extensions;
  assert.deepEqual([unknown.code, unknown.details[0].field], ["VALIDATION_FAILED", "mimeType"]);
  const again = "mutation ($id: ID!) { reprocessImage(id: $id) { image { status failure { code } } errors { code } } }";
  const { data } = await images.graphql(who, again, { id });
  assert.deepEqual(data.reprocessImage, { image: { status: "processing", failure: null }, errors: [] });
  const { errors } = await images.graphql(who, again, { id: "img_nothing" });
  assert.equal(errors[0].extensions.code, "NOT_FOUND");
});

test("an answer about a deleted image does not hold up later answers", async () => {
  const who = testPerson();
  const [gone, kept] = [await uploaded(who), (await images.upload(who, await readFixture("alpha.png"))).body];
  await images.send(who, "DELETE", `/images/${gone.id}`);
  await answer(gone.job);
  const events = await eventually(async () => {
    const all = await images.eventsOf(who.accountId, 4);
    return all.some((event) => event.name === "image.render_requested" && event.subject === kept.id) && all;
  });
  await answer(events.find((event) => event.name === "image.render_requested" && event.subject === kept.id) as Job);
  await eventually(async () => (await statusOf(who, kept.id)) === "ready");
});

test("an unanswered job is sent again unchanged until an answer makes the image ready", async () => {
  const impatient = await startImages({ "images.render.lost-after": 1_000 });
  try {
    const who = testPerson();
    const { id } = (await impatient.upload(who, await readFixture("photo.jpg"))).body;
    const jobs = await eventually(async () => {
      const all = await impatient.eventsOf(who.accountId, 2);
      const requested = all.filter(({ name }) => name === "image.render_requested") as Job[];
      return requested.length > 1 && requested;
    });
    assert.equal(new Set(jobs.map(({ data }) => `${data.job_id} ${data.attempt}`)).size, 1);
    await answer(jobs[0] as Job, {}, impatient);
    await eventually(async () => (await impatient.send(who, "GET", `/images/${id}`)).body.status === "ready");
  } finally {
    await impatient.close();
  }
});

const [pictures, inFlight] = [60, 40];

test("a page of sixty new thumbnails is shown whole: each waits for its turn", async () => {
  const images = await startImages();
  try {
    const who = testPerson();
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const sides = Array.from({ length: pictures }, (_, at) => 100 + at);
    const statuses: number[] = [];
    const show = async () => {
      for (let side = sides.pop(); side !== undefined; side = sides.pop()) {
        const path = `/images/${id}/content?width=${side}&height=${side}&fit=cover&format=jpeg`;
        statuses.push((await images.send(who, "GET", path)).status);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, show));
    assert.deepEqual([statuses.length, ...new Set(statuses)], [pictures, 200]);
  } finally {
    await images.close();
  }
});
