import assert from "node:assert/strict";
import { test } from "node:test";
import { parseKafkaUrl } from "./kafka-url.ts";

test("a list of brokers needs nothing else", () => {
  assert.deepEqual(parseKafkaUrl("kafka://a:9092,b:9092"), { brokers: ["a:9092", "b:9092"], security: {} });
  assert.deepEqual(parseKafkaUrl("kafka://a:9092/").brokers, ["a:9092"]);
});

test("a user name and its password may contain any character", () => {
  const { security } = parseKafkaUrl("kafka://ada:p%40ss%3Aw%2F@a:9092?tls=true&sasl=scram-sha-512");
  assert.deepEqual(security, { ssl: {}, sasl: { mechanism: "scram-sha-512", username: "ada", password: "p@ss:w/" } });
});

for (const [url, said] of [
  ["kafka://a:9092?tsl=true", /unknown option tsl/],
  ["kafka://a:b@a:9092", /say by sasl= what they are for/],
  ["kafka://a:b@a:9092?sasl=plain", /would send a password in clear: add tls=true/],
  ["kafka://a:9092?tls=true&sasl=plain", /needs user:password@/],
  ["kafka://a:b@a:9092?tls=true&sasl=gssapi", /there are plain, scram-sha-256, scram-sha-512 and oauthbearer/],
  ["kafka://a:b@a:9092?tls=true&sasl=oauthbearer", /needs token-url/],
  ["kafka://a:9092?ca=%2Fca.pem", /names ca without tls=true/],
  ["kafka://", /must have the form kafka:\/\/host:port/],
] as const) {
  test(`${url.replace(/\/\/.*@/, "//…@")} is refused with its fault`, () => {
    assert.throws(() => parseKafkaUrl(url), said);
  });
}
