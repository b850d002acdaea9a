import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { exampleFile, type Manifest, manifestsIn, renderChart } from "@signalbox/infra/kubernetes/test/render-chart.ts";
import {
  createCertificates,
  createReceiver,
  eventually,
  freePort,
  type OwnEngine,
  runKafkaTool,
  startEngine,
  startProcess,
} from "@signalbox/testing";
import kafkajs from "kafkajs";
import { createClient, expectStatus } from "../journey/client.ts";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type KedaTrigger, type Measure, startKedaScalers } from "./keda-scalers.ts";
import { startPrometheus } from "./start-prometheus.ts";

const manifests = manifestsIn(await renderChart(exampleFile("production")));
const one = (kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name) ??
  assert.fail(`no ${kind} ${name}`);

/** The triggers of a workload that KEDA itself answers, with servers of this machine. */
const triggersOf = (name: string, server: object): KedaTrigger[] =>
  one("ScaledObject", name)
    .spec.triggers.filter(({ type }: KedaTrigger) => type !== "cpu")
    .map((trigger: KedaTrigger) => ({ ...trigger, metadata: { ...trigger.metadata, ...server } }));

/** The number of pods that the autoscaler of Kubernetes wants: the largest of its metrics, within its bounds. */
function replicas(name: string, measures: readonly Measure[]): number {
  const { minReplicaCount, maxReplicaCount } = one("ScaledObject", name).spec;
  const wanted = Math.max(...measures.map(({ value, target }) => Math.ceil(value / target)));
  return Math.min(maxReplicaCount, Math.max(minReplicaCount, wanted));
}

const errorsOf = (measures: readonly Measure[]) => measures.map(({ error }) => error);
const password = "watches-only";

describe("KEDA's scaler of Kafka, signed in as the watcher", () => {
  test("follows the lag of the image work, a blocked partition aside; fails without broker or password", async () => {
    await using opened = new AsyncDisposableStack();
    const { url, port, broker, ca } = await startScramBroker(opened);
    const [trigger] = triggersOf("image-worker", { bootstrapServers: `localhost:${port}` });
    assert.ok(trigger);
    const { consumerGroup = "", topic = "" } = trigger.metadata;
    const kafka = new kafkajs.Kafka({ brokers: [url], logLevel: kafkajs.logLevel.NOTHING });
    const [offsets, producer] = [kafka.admin(), kafka.producer()];
    for (const client of [offsets, producer]) {
      await client.connect();
      opened.defer(() => client.disconnect());
    }
    const partitions = (await offsets.fetchTopicOffsets(topic)).map(({ partition }) => partition);
    const commit = (offset: number) => commitOffset(kafka, { groupId: consumerGroup, topic, offset });
    await commit(0);

    const authParams = signIn(ca, password);
    const keda = await startKedaScalers([{ ...trigger, authParams }]);
    opened.defer(() => keda.close());
    const idle = await keda.poll();
    assert.deepEqual(errorsOf(idle), [""]);
    assert.deepEqual([idle[0]?.value, idle[0]?.target, idle[0]?.isActive], [0, 20, false]);
    assert.equal(replicas("image-worker", idle), 1);

    const perPartition = Math.ceil(90 / partitions.length);
    const messages = partitions.flatMap((partition) =>
      Array.from({ length: perPartition }, () => ({ partition, value: "{}" })),
    );
    await producer.send({ topic, messages });
    await commit(1);
    const [behind] = await keda.poll();
    assert.deepEqual([behind?.value, behind?.isActive], [messages.length - partitions.length, true]);
    assert.equal(replicas("image-worker", behind ? [behind] : []), Math.ceil((behind?.value ?? 0) / 20));

    const [blocked] = await keda.poll();
    assert.deepEqual([blocked?.value, blocked?.error], [0, ""], "more pods do not help where nothing moves");
    await commit(perPartition);
    assert.equal((await keda.poll())[0]?.value, 0);

    await assertOnlyLooks({ port, ca, topic, consumerGroup });
    const stranger = await startKedaScalers([{ ...trigger, authParams: signIn(ca, "wrong") }]);
    opened.defer(() => stranger.close());
    assert.notDeepEqual(errorsOf(await stranger.poll()), [""], "a wrong password is an error, and no lag of zero");
    await broker.kill();
    assert.notDeepEqual(errorsOf(await keda.poll()), [""], "no broker is an error, and the fallback counts it");
  });
});

describe("KEDA's scaler of Prometheus", () => {
  test("wants more pods while deliveries wait; fails without metric or Prometheus", async () => {
    await using opened = new AsyncDisposableStack();
    const system = await startEmbeddedSystem({
      properties: {
        "webhook-delivery.outbound.allow": "127.0.0.1:*",
        "webhook-delivery.attempts.in-flight-max-per-endpoint": "1",
      },
    });
    opened.defer(async () => {
      await system.stop();
      await removeData(system);
    });
    const receiver = await createReceiver({ instead: "hang" });
    opened.defer(() => receiver.close());
    const prometheus = await startPrometheus(new Map([["all", system.managementUrl]]));
    opened.defer(() => prometheus.close());
    const triggers = triggersOf("webhook-delivery", { serverAddress: prometheus.url });
    const unknown = triggers.slice(0, 1).map((trigger) => ({
      ...trigger,
      metadata: { ...trigger.metadata, query: 'max(signalbox_of_no_service{job="signalbox"})' },
    }));
    const keda = await startKedaScalers([...triggers, ...unknown]);
    opened.defer(() => keda.close());
    const idle = await eventually(
      async () => {
        const measures = await keda.poll();
        return measures[0]?.error === "" && measures[1]?.error === "" ? measures : null;
      },
      { timeoutMs: 60_000, message: "both measures are scraped" },
    );
    assert.deepEqual(
      idle.map(({ target }) => target),
      [15, 5_000, 0],
    );
    assert.match(idle[2]?.error ?? "", /target may be lost/, "a metric that is gone is an error, and no zero");
    assert.equal(replicas("webhook-delivery", idle.slice(0, 2)), 2);

    const send = createClient(system.baseUrl, system.apiKey);
    expectStatus(
      await send("/api/v1/webhooks/endpoints", { body: { url: receiver.url, event_types: ["account.*"] } }),
      201,
    );
    for (const display_name of ["A", "B", "C", "D", "E"])
      expectStatus(await send("/api/account/", { method: "PATCH", body: { display_name } }), 200);
    const overdue = await eventually(
      async () => {
        const measures = (await keda.poll()).slice(0, 2);
        return replicas("webhook-delivery", measures) > 2 ? measures : null;
      },
      { timeoutMs: 180_000, message: "deliveries wait for longer than two pods should need" },
    );
    assert.equal(overdue[0]?.isActive, true);
    assert.ok((overdue[0]?.value ?? 0) > 30, "their age is the reason");
    assert.ok((overdue[1]?.value ?? 0) >= 1, "they are counted as well");

    await prometheus.close();
    for (const error of errorsOf(await keda.poll())) assert.notEqual(error, "", "the fallback counts it");
  });
});

/** The parameters of the sign-in, as its TriggerAuthentication finds them. */
function signIn(ca: string, secret: string): Record<string, string> {
  const { configMapTargetRef, secretTargetRef } = one("TriggerAuthentication", "keda-kafka").spec;
  const secrets: Readonly<Record<string, string>> = { password: secret, "ca.crt": ca };
  return Object.fromEntries([
    ...configMapTargetRef.map(({ parameter, name, key }: Manifest) => [parameter, one("ConfigMap", name).data[key]]),
    ...secretTargetRef.map(({ parameter, key }: Manifest) => [parameter, secrets[key]]),
  ]);
}

const watcher: string = one("ConfigMap", "keda-kafka").data.username;

/** A broker with a listener as Strimzi's, the topics and rights of `npm run topics`, and the watcher as its user. */
async function startScramBroker(
  opened: AsyncDisposableStack,
): Promise<{ url: string; port: number; broker: OwnEngine; ca: string }> {
  const certificates = await createCertificates();
  opened.defer(() => certificates.remove());
  const port = await freePort();
  const keys = join(certificates.folder, "broker.pem");
  const parts = [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8"));
  await writeFile(keys, (await Promise.all(parts)).join(""));
  const configure = (properties: string) =>
    [
      properties
        .replace(/^listeners=.*$/m, `$&,SCRAM://127.0.0.1:${port}`)
        .replace(/^advertised\.listeners=.*$/m, `$&,SCRAM://localhost:${port}`)
        .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,SCRAM:SASL_SSL"),
      "ssl.keystore.type=PEM",
      `ssl.keystore.location=${keys}`,
      "listener.name.scram.sasl.enabled.mechanisms=SCRAM-SHA-512",
      "listener.name.scram.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
      "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users=User:ANONYMOUS",
      "allow.everyone.if.no.acl.found=false",
      "",
    ].join("\n");
  const broker = await startEngine("kafka", { configure });
  opened.defer(() => broker.close());
  const url = `127.0.0.1:${broker.port}`;
  const user = `--entity-type users --entity-name ${watcher} --add-config SCRAM-SHA-512=[password=${password}]`;
  await runKafkaTool(["kafka.admin.ConfigCommand", "--bootstrap-server", url, "--alter", ...user.split(" ")]);
  const topics = startProcess(fileURLToPath(new URL("../../infra/kafka/topics.ts", import.meta.url)), [
    "--events.principals=User:signalbox-{service}",
    `--events.watchers=User:${watcher}`,
    "--events.topics.replication-factor=1",
    `--events.url=kafka://${url}`,
  ]);
  const { code } = await topics.exited;
  assert.equal(code, 0, topics.stderr);
  return { url, port, broker, ca: await readFile(certificates.caFile, "utf8") };
}

/** Commits an offset of every partition as the only member of the group, and leaves it. */
async function commitOffset(kafka: kafkajs.Kafka, of: { groupId: string; topic: string; offset: number }) {
  const { groupId, topic, offset } = of;
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topic });
  const assigned = new Promise<readonly number[]>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => resolve(payload.memberAssignment[topic] ?? []));
  });
  await consumer.run({ autoCommit: false, eachMessage: async () => {} });
  const partitions = await assigned;
  await consumer.commitOffsets(partitions.map((partition) => ({ topic, partition, offset: String(offset) })));
  await consumer.disconnect();
}

/** Checks that the user of KEDA can neither write nor remove topics or groups. */
async function assertOnlyLooks(where: { port: number; ca: string; topic: string; consumerGroup: string }) {
  const { port, ca, topic, consumerGroup } = where;
  const kafka = new kafkajs.Kafka({
    brokers: [`localhost:${port}`],
    ssl: { ca },
    sasl: { mechanism: "scram-sha-512", username: watcher, password },
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 0 },
  });
  await using opened = new AsyncDisposableStack();
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  for (const client of [admin, producer]) {
    await client.connect();
    opened.defer(() => client.disconnect());
  }
  assert.ok((await admin.fetchTopicOffsets(topic)).length > 0, "it may look");
  const refused = /[Aa]uthoriz/;
  await assert.rejects(producer.send({ topic, messages: [{ value: "{}" }] }), refused);
  await assert.rejects(admin.deleteTopics({ topics: [topic] }), refused);
  const ofGroup = 30; // GROUP_AUTHORIZATION_FAILED
  const isOfGroup = ({ groups }: { groups?: { errorCode?: number }[] }) => groups?.[0]?.errorCode === ofGroup;
  await assert.rejects(admin.deleteGroups([consumerGroup]), isOfGroup);
}
