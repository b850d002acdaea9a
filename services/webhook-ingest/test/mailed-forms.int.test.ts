import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const secret = "a webhook signing key of mailgun";

test("a mail of Mailgun with an attachment is received once for its token", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { preset: "mailgun-routes", secret });
  const [timestamp, token] = [String(Math.floor(Date.now() / 1_000)), "a8ce0edb2dd8301dee6c2405235584e4"];
  const post = async (signature: string) => {
    const form = new FormData();
    form.set("subject", "Caf\u00e9");
    form.set("attachment-1", new File([new Uint8Array([0, 255, 13, 10, 45, 45])], "signature"));
    for (const [name, value] of Object.entries({ timestamp, token, signature })) form.set(name, value);
    const request = new Request("http://hub.example", { method: "POST", body: form });
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    return (await ingest.post(source, { headers, body: Buffer.from(await request.arrayBuffer()) })).status;
  };
  const right = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex");
  assert.deepEqual([await post("0".repeat(64)), await post(right), await post(right)], [401, 200, 200]);
  const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`)).body;
  assert.deepEqual(
    items.map((item: Record<string, unknown>) => [item.delivery_id, item.delivery_id_signed]),
    [[token, true]],
  );
});
