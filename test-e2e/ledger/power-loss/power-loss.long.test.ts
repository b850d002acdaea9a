import assert from "node:assert/strict";
import { test } from "node:test";
import { createOidcIssuer } from "@signalbox/testing";
import { createHistory } from "../history.ts";
import { formOf } from "../http.ts";
import { createRandom, pictureOf } from "../random.ts";
import { type Member, openScene } from "../scene.ts";
import { createLedgerReceiver } from "../witnesses/receiver.ts";
import { signed } from "../writers/webhooks.ts";
import { startTraced } from "./traced-system.ts";

test("what was answered survives a power loss: WAL and blob are flushed before the answer", async (t) => {
  await using opened = new AsyncDisposableStack();
  const issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const random = createRandom("power loss");
  const history = createHistory();
  const receiver = await createLedgerReceiver(random, history.now);
  opened.defer(() => receiver.close());
  const { system, flushesBefore, close } = await startTraced(issuer.issuer);
  opened.defer(close);
  const auth_time = Math.floor(Date.now() / 1000);
  const newToken = () => issuer.sign({ sub: crypto.randomUUID(), auth_time }, { expiresInSeconds: 900 });
  const given = { system, history, receiver, random, newToken, round: "power", stopped: AbortSignal.abort() };
  const { members } = await openScene(given);
  const [{ http, images, source }] = members as [Member];

  const form = formOf({ title: "x" }, { name: "x.png", type: "image/png", bytes: pictureOf(random).bytes });
  const requests = {
    "an upload": () => http("/images", form),
    "a webhook": () => http(`/ingest/${source.id}`, signed("power-1", source.secret)),
    "a PATCH": () => http(`/images/${images[0]}`, { method: "PATCH", body: { title: "y" } }),
  };
  for (const [name, send] of Object.entries(requests)) {
    const { status, flushed } = await flushesBefore(send);
    assert.ok(status === 201 || status === 202 || status === 200, `${name}: ${status}`);
    t.diagnostic(`${name}: flushed before the answer: ${flushed.join(", ")}`);
    assert.ok(flushed.includes("wal"), `the WAL is flushed before the answer to ${name}`);
    if (name === "an upload")
      assert.ok(flushed.includes("blob"), "the bytes are flushed before the answer to an upload");
  }
});
