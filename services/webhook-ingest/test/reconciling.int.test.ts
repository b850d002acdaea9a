import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock, hours, type ManualClock, minutes } from "@signalbox/core";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { type FakeGithub, type FakeStripe, githubKey, startFakeGithub, startFakeStripe, stripeKey } from "./sender-fakes.ts";

const secret = "a secret of at least sixteen bytes";
type Person = ReturnType<typeof testPerson>;
type Source = { id: string; ingest_path: string };

let [ingest, clock, github, stripe]: [Harness, ManualClock, FakeGithub, FakeStripe] = [] as never;
before(async () => {
  // The day of the real clock, which has its tables.
  clock = createManualClock(new Date());
  github = await startFakeGithub(clock, secret);
  stripe = await startFakeStripe(clock, secret);
  const allow = [github, stripe].map(({ url }) => new URL(url).host).join(",");
  ingest = await startIngest({ "webhook-ingest.outbound.allow": allow }, { clock });
});
after(async () => {
  await ingest.close();
  await Promise.all([github.close(), stripe.close()]);
});

const githubSource = { scheme: "github", secret };
const stripeSource = { scheme: "stripe", secret };
const githubPlace = () => ({ sender: "github", key: githubKey, repository: "acme/shop", hook_id: 42, api_url: github.url });
const stripePlace = () => ({ sender: "stripe", key: stripeKey, api_url: stripe.url });

const setKey = (who: Person, { id }: Source, body: object) =>
  ingest.send(who, "PUT", `${sourcesPath}/${id}/sender-key`, { body });
const sourceOf = async (who: Person, { id }: Source) => (await ingest.send(who, "GET", `${sourcesPath}/${id}`)).body;
const runsOf = async (who: Person, { id }: Source) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/reconciliations`)).body.items;
const receivedOf = async (who: Person, { id }: Source, query = "") =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received?limit=100${query}`)).body.items;

/** Waits for the end of the newest run of a source, and moves the clock to each time at which a step is due. */
async function ended(who: Person, source: Source, wanted: (run: { id: string; status: string }) => boolean = () => true) {
  return eventually(
    async () => {
      const [run] = await runsOf(who, source);
      if (run && run.status !== "running" && wanted(run)) return run;
      const { rows } = await ingest.pool.query<{ dueAt: Date }>({
        name: "",
        text: `select due_at as "dueAt" from reconciliation_schedules where source_id = $1 and run_id is not null and lease_id is null`,
      }, [source.id]);
      const [due] = rows;
      if (due && due.dueAt > clock.now()) clock.set(due.dueAt);
      return null;
    },
    { timeoutMs: 60_000 },
  );
}

test("a new key finds what was missed since the source exists, takes it once, and says so", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, stripeSource);
  const from = clock.now();
  const [pushed, ...missed] = [1, 2, 3, 4].map((number) => stripe.create(number, new Date(from.getTime() + number * 1_000)));
  assert.ok(pushed);
  assert.equal((await ingest.post(source, pushed)).status, 202);
  clock.advance(minutes(2));
  const { status, body, text } = await setKey(who, source, stripePlace());
  assert.equal(status, 200, text);
  assert.ok(!text.includes(stripeKey), "the key is not shown");
  assert.deepEqual([body.sender_key.sender, body.sender_key.state, body.sender_key.hook_id], ["stripe", "unchecked", null]);
  const run = await ended(who, source);
  assert.deepEqual([run.status, run.trigger, run.listed, run.missed, run.recovered], ["completed", "key", 4, 3, 3]);
  assert.match(run.summary, /^\d\d:\d\d–\d\d:\d\d: 3 missed, 3 recovered$/);
  assert.equal((await sourceOf(who, source)).sender_key.state, "working");

  for (const webhook of missed) assert.equal((await ingest.post(source, webhook)).status, 202, "Stripe tries again");
  const items = await receivedOf(who, source);
  assert.deepEqual(
    items.map((item: Record<string, unknown>) => [item.delivery_id, item.origin, item.delivery_id_signed]).sort(),
    [
      [pushed.id, "pushed", true],
      ...missed.map(({ id }) => [id, "reconciled", false]),
    ].sort(),
    "in other bytes, and still once",
  );
  assert.equal((await receivedOf(who, source, "&origin=reconciled")).length, 3);
  const events = await ingest.eventsOf(who.accountId, 4, "webhook.received");
  assert.deepEqual(events.map(({ data }) => (data as { origin: string }).origin).sort(), [
    "pushed",
    ...missed.map(() => "reconciled"),
  ]);
});

test("GitHub's deliveries are taken with their signatures, and sent again where their bytes cannot be had", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, githubSource);
  const at = clock.now();
  const [json, form, other, done] = [
    github.create(11),
    github.create(12, { form: true }),
    github.create(13),
    github.create(14),
  ] as const;
  // Bytes that no reader of the JSON can know: GitHub has to send them again.
  const spaced = { ...other, body: other.body.replace("{", "{ ") };
  const sent = { ...spaced, headers: { ...spaced.headers, ...signed(spaced.body) } };
  for (const [nth, webhook] of [json, form, sent, done].entries())
    github.note(webhook, new Date(at.getTime() + 1_000 * nth), webhook === done ? 202 : 502);
  const redelivered: string[] = [];
  github.redeliver = async (webhook) => {
    redelivered.push(webhook.id);
    return (await ingest.post(source, webhook)).status;
  };
  clock.advance(minutes(2));
  assert.equal((await setKey(who, source, githubPlace())).status, 200);
  const run = await ended(who, source);
  assert.deepEqual([run.status, run.missed, run.recovered], ["completed", 3, 3]);
  assert.deepEqual(redelivered, [other.id]);
  assert.equal((await ingest.post(source, json)).status, 202, "a later push is a repetition");
  const items = await receivedOf(who, source);
  assert.deepEqual(
    items.map(({ delivery_id, origin }: Record<string, string>) => [delivery_id, origin]).sort(),
    [json, form, sent].map(({ id }) => [id, "reconciled"]).sort(),
  );
  assert.deepEqual(github.broken, []);
});

function signed(body: string) {
  const { headers } = github.create(0);
  const { createHmac } = process.getBuiltinModule("node:crypto");
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  return { ...headers, "x-hub-signature-256": `sha256=${digest}`, "x-github-delivery": github.create(13).id };
}
