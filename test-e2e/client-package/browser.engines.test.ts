import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { installPackedClient } from "./packed-client.ts";

/** The example of Standard Webhooks in both versions, and its body with one wrong byte. */
const program = `
  const { verifySignature } = await import("/dist/webhooks/index.js");
  const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330" };
  const judge = (signature, secret, body) =>
    verifySignature(body, new Headers({ ...headers, "webhook-signature": signature }), secret, { now: 1614265330000 })
      .then(({ id }) => id, ({ code }) => code);
  const v1 = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  const v1a = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
  const [secret, key] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="];
  const body = '{"test": 2432232314}';
  return Promise.all([judge(v1, secret, body), judge(v1a, key, body), judge(v1, secret, body + " "), judge(v1a, key, " " + body)]);
`;

test("a browser verifies both signatures with the packed client, as it comes", async () => {
  const project = await installPackedClient("here");
  const packed = join(project.folder, "node_modules/@signalbox/client");
  const server = createServer(async (request, response) => {
    const { url = "" } = request;
    if (!url.endsWith(".js")) return response.writeHead(200, { "content-type": "text/html" }).end();
    return response.writeHead(200, { "content-type": "text/javascript" }).end(await readFile(join(packed, url)));
  }).listen(0, "127.0.0.1");
  const browser = await openBrowser();
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const mismatch = "signature_mismatch";
    assert.deepEqual(await page.evaluate(`(async () => {${program}})()`), [id, id, mismatch, mismatch]);
  } finally {
    await browser.close();
    server.close();
    await project.remove();
  }
});
