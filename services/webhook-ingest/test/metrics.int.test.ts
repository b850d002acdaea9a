import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

/** Values of a metric by its labels, without the service's label. */
async function samplesOf(name: string): Promise<Record<string, number>> {
  const text = await ingest.context.metrics.text();
  const lines = [...text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, "gm"))];
  const labelsOf = (labels: string) => labels.split(",").filter((label) => !label.startsWith("service="));
  return Object.fromEntries(lines.map(([, labels = "", value]) => [labelsOf(labels).join(), Number(value)]));
}

test("webhooks are counted by scheme and outcome, refusals by reason, and no label names a source", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const github = await ingest.newSource(who, { scheme: "github", secret: secrets.github, event_types: ["push"] });
  const webhook = sign("hmac");
  for (const sent of [webhook, webhook, { ...webhook, body: "{}" }]) await ingest.post(source, sent);
  await ingest.post(github, sign("github", { type: "issues" }));
  await ingest.post({ ingest_path: "/ingest/src_nobody" }, webhook);
  await ingest.post(source, sign("hmac", { body: "x".repeat(1_048_577) }));
  assert.deepEqual(await samplesOf("signalbox_webhooks_received_total"), {
    'scheme="hmac",outcome="received"': 1,
    'scheme="hmac",outcome="repeated"': 1,
    'scheme="hmac",outcome="refused"': 1,
    'scheme="github",outcome="filtered"': 1,
    'scheme="none",outcome="unknown_source"': 1,
  });
  assert.deepEqual(await samplesOf("signalbox_webhooks_refused_total"), {
    'scheme="hmac",reason="signature_mismatch"': 1,
    'scheme="none",reason="body_too_large"': 1,
  });
  assert.equal((await samplesOf("signalbox_webhook_verification_seconds_count"))['scheme="github"'], 1);
  assert.ok(!(await ingest.context.metrics.text()).includes(source.id));
});

test("a source with most webhooks refused raises the gauge of the alert", async () => {
  const gauge = async () => Object.values(await samplesOf("signalbox_webhook_sources_mostly_refused"))[0];
  const wrong = await ingest.newSource(testPerson(), { scheme: "hmac", secret: "not the secret of the shop" });
  const before = await gauge();
  for (let nth = 0; nth < 25; nth++) await ingest.post(wrong, sign("hmac"));
  assert.deepEqual([before, await gauge()], [0, 1]);
});
