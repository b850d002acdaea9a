import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.rejections.max-bytes": 1_048_576 });
});
after(() => ingest.close());

/** Refuses webhooks of a source that keeps them, and waits until so many are left. */
async function keptOf(webhooks: readonly ReturnType<typeof sign>[], count: number) {
  const who = testPerson();
  const settings = { keep_rejected_bodies: true };
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "not the secret of the shop", settings });
  for (const webhook of webhooks) assert.equal((await ingest.post(source, webhook)).status, 401);
  await eventually(async () => {
    const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections`)).body;
    assert.equal(items.length, count);
  });
}

test("the newest rejected bodies of a source are kept up to a number of bytes", () =>
  keptOf(
    ["1", "2", "3", "4"].map((digit) => sign("hmac", { body: JSON.stringify(digit.repeat(400_000)) })),
    2,
  ));

test("headers count among the bytes that are kept of rejected webhooks", () => {
  const webhooks = Array.from({ length: 24 }, () => {
    const { headers, body } = sign("hmac");
    return { body, headers: { ...headers, "x-much": randomBytes(49_152).toString("base64url") } };
  });
  return keptOf(webhooks, 15);
});
