import assert from "node:assert/strict";
import { test } from "node:test";
import { createReceiver } from "@signalbox/testing";
import { createHome, json } from "./call.ts";

const data = '{ "b":9007199254740993.0,\t"10":1.10,"9":-0,"__proto__":[1e400,"\\ud800\\u0000"] }';

for (const given of ["-", "@-"])
  test(`data of --data ${given} are published with the bytes with which they were given`, async (t) => {
    const receiver = await createReceiver(
      json({ items: [{ id: "order-1", type: "order.created", duplicate: false, warnings: [] }] }, 202),
    );
    t.after(() => receiver.close());
    const { call } = await createHome(t);
    const environment = { SIGNALBOX_URL: receiver.url, SIGNALBOX_API_KEY: "key" };
    const words = ["trigger", "order.created", "--data", given, "--id", "order-1", "--json"];
    const { exitCode, stdout, stderr } = await call(words, { environment, stdin: `${data}\n` });
    assert.equal(exitCode, 0, stderr);
    const [{ headers, body } = assert.fail()] = receiver.requests;
    assert.equal(body.toString(), `{"type":"order.created","id":"order-1","data":${data}}`);
    assert.match(headers["content-type"] ?? "", /^application\/json/);
    assert.match(stdout, /9007199254740993\.0[\s\S]*1e400/);
  });

test("data with a repeated member are refused, because readers differ in which of the two they take", async (t) => {
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: "http://127.0.0.1:9", SIGNALBOX_API_KEY: "key" };
  const words = ["trigger", "order.created", "--data", '{"total":1,"lines":[{"a":1,"\\u0061":2}]}'];
  const { exitCode, stderr } = await call(words, { environment });
  assert.equal(exitCode, 2);
  assert.match(stderr, /--data has "a" twice in one object, in line 1/);
});
