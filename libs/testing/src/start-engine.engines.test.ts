import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTcpProxy, freePort, startEngine, testDatabase, testKafka, testRedis, testS3 } from "./index.ts";
import { accessibilityProblems, openBrowser } from "./open-browser.ts";
import { serveListener } from "./serve-listener.ts";

test("two tests never share a database, a topic, a Redis number or a bucket", async () => {
  const databases = await Promise.all([testDatabase(), testDatabase()]);
  after(() => Promise.all(databases.map((database) => database.close())));
  const kafkas = await Promise.all([testKafka(), testKafka()]);
  const redises = await Promise.all([testRedis(), testRedis()]);
  const stores = await Promise.all([testS3(), testS3()]);
  assert.notEqual(databases[0].url, databases[1].url);
  assert.notEqual(kafkas[0].topic("images"), kafkas[1].topic("images"));
  assert.notEqual(redises[0].url, redises[1].url);
  assert.notEqual(stores[0].url, stores[1].url);
});

test("a proxy can take its engine away from the client for a while", async () => {
  const port = await freePort();
  const proxy = await createTcpProxy({ port });
  const redis = await startEngine("redis", { port });
  after(async () => {
    await proxy.close();
    await redis.close();
  });
  const url = new URL(proxy.urlFor(redis.url));
  assert.equal(Number(url.port), proxy.port);
  await proxy.refuse();
  await assert.rejects(fetch(`http://127.0.0.1:${url.port}`));
  await proxy.accept();
  // Redis answers HTTP with an error and disconnects: enough to see that it runs.
  await assert.rejects(
    fetch(`http://127.0.0.1:${url.port}`),
    (error: Error) => !/ECONNREFUSED/.test(String(error.cause)),
  );
});

const pageOf = (form: string) =>
  `<!doctype html><html lang="en"><title>Form</title><main><h1>Form</h1><form>${form}</form></main></html>`;

test("a browser reports what is inaccessible on a page under its own policy", async (t) => {
  const good = '<label for="a">Name</label><input id="a">';
  const listener = await serveListener((request, response) => {
    response.setHeader("content-type", "text/html");
    response.setHeader("content-security-policy", "default-src 'none'");
    response.end(pageOf(request.url === "/good" ? good : "<input>"));
  });
  const browser = await openBrowser();
  t.after(() => Promise.all([browser.close(), listener.close()]));
  const page = await browser.newPage();
  await page.goto(`${listener.url}/good`);
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.goto(`${listener.url}/bad`);
  assert.match((await accessibilityProblems(page)).join(), /^label: /);
});
