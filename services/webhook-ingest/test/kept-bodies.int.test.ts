import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.rejections.max-bytes": 1_048_576 });
});
after(() => ingest.close());

test("the newest rejected bodies of a source are kept up to a number of bytes", async () => {
  const who = testPerson();
  const settings = { keep_rejected_bodies: true };
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "not the secret of the shop", settings });
  for (const digit of ["1", "2", "3", "4"]) {
    const webhook = sign("hmac", { body: JSON.stringify(digit.repeat(400_000)) });
    assert.equal((await ingest.post(source, webhook)).status, 401);
  }
  await eventually(async () => {
    const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections`)).body;
    assert.equal(items.length, 2);
  });
});
