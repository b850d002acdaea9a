import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openEventLog } from "@signalbox/events";
import {
  createCertificates,
  eventually,
  freePort,
  type OwnEngine,
  runKafkaTool,
  startEngine,
  type TestCertificates,
  testContext,
} from "@signalbox/testing";
import { samples, startSample } from "./sample-programs.ts";

const topic = "signalbox.image.v1";
const context = testContext("images", {});
let certificates: TestCertificates;
let engine: OwnEngine;
let port: number;

/** A broker with a listener for TLS and SCRAM, and one record. */
before(async () => {
  certificates = await createCertificates();
  port = await freePort();
  const keys = join(certificates.folder, "broker.pem");
  const parts = [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8"));
  await writeFile(keys, (await Promise.all(parts)).join(""));
  engine = await startEngine("kafka", { configure: (properties) => withListener(properties, keys) });
  const user = [
    "--entity-type",
    "users",
    "--entity-name",
    "my-team",
    "--add-config",
    "SCRAM-SHA-512=[password=secret]",
  ];
  const server = ["--bootstrap-server", `127.0.0.1:${engine.port}`, "--alter"];
  await runKafkaTool(["kafka.admin.ConfigCommand", ...server, ...user]);
  const eventLog = await openEventLog(engine.url, { ...context, clientId: "publisher" });
  const limits = { partitions: 1, cleanup: "delete", retentionMs: 3_600_000, maxMessageBytes: 1_000_000 } as const;
  await eventLog.ensureTopics([{ name: topic, ...limits }]);
  const headers = { ce_id: "019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11", ce_type: "image.created.v1" };
  await eventLog.publish([{ topic, key: "img_1", headers, value: Buffer.from('{"id":"img_1"}') }]);
  await eventLog.close();
});
after(async () => {
  await context.close();
  await engine.close();
  await certificates.remove();
});

const withListener = (properties: string, keys: string): string =>
  [
    properties
      .replace(/^listeners=.*$/m, `$&,SECURE://127.0.0.1:${port}`)
      .replace(/^advertised\.listeners=.*$/m, `$&,SECURE://localhost:${port}`)
      .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,SECURE:SASL_SSL"),
    "ssl.keystore.type=PEM",
    `ssl.keystore.location=${keys}`,
    "listener.name.secure.sasl.enabled.mechanisms=SCRAM-SHA-512",
    "listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "",
  ].join("\n");

for (const [language, prepare] of Object.entries(samples)) {
  test(`${language}: a sample reads over TLS under a name and password`, async () => {
    const command = await prepare();
    const folder = await mkdtemp(join(tmpdir(), "signalbox-secured-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const login = { KAFKA_CA: certificates.caFile, KAFKA_USERNAME: "my-team", KAFKA_PASSWORD: "secret" };
    const args = [`localhost:${port}`, `my-team-${language}`, join(folder, "handled"), topic];
    const sample = startSample(command, args, login);
    stack.defer(() => sample.kill());
    await eventually(() => assert.equal(sample.events[0]?.key, "img_1", sample.output), { timeoutMs: 60_000 });
    await sample.stop();
  });
}
