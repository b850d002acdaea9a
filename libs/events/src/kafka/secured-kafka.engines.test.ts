import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, before, it } from "node:test";
import {
  createCertificates,
  freePort,
  type OwnEngine,
  runKafkaTool,
  startEngine,
  type TestCertificates,
  testContext,
} from "@signalbox/testing";
import { openEventLog } from "../open-event-log.ts";

const context = testContext("images", {});
const topic = {
  name: "secured",
  partitions: 1,
  cleanup: "delete",
  retentionMs: 3_600_000,
  maxMessageBytes: 1_000_000,
} as const;
let certificates: TestCertificates;
let client: { certFile: string; keyFile: string };
let engine: OwnEngine;
let issuer: Server;
let [secure, mutual, tokenUrl] = [0, 0, ""];

before(async () => {
  certificates = await createCertificates();
  client = await certificates.issue("client");
  [secure, mutual] = [await freePort(), await freePort()];
  const keys = join(certificates.folder, "broker.pem");
  const parts = [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8"));
  await writeFile(keys, (await Promise.all(parts)).join(""));
  engine = await startEngine("kafka", { configure: (properties) => withListeners(properties, keys) });
  await Promise.all(["256", "512"].map(addScramUser));
  issuer = createServer((request, response) => {
    if (request.headers.authorization !== `Basic ${btoa("signalbox:client-secret")}`)
      return response.writeHead(401).end();
    response.end(JSON.stringify({ access_token: unsignedToken(), token_type: "Bearer" }));
  });
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  tokenUrl = `http://127.0.0.1:${(issuer.address() as { port: number }).port}/token`;
});
after(async () => {
  await context.close();
  issuer.close();
  await engine.close();
  await certificates.remove();
});

/** Adds a SCRAM credential: Kafka takes one of a user at a time. */
async function addScramUser(bits: string): Promise<void> {
  const server = ["--bootstrap-server", `127.0.0.1:${engine.port}`, "--alter"];
  const user = ["--entity-type", "users", "--entity-name", `signalbox-${bits}`];
  const password = ["--add-config", `SCRAM-SHA-${bits}=[password=scram-${bits}]`];
  await runKafkaTool(["kafka.admin.ConfigCommand", ...server, ...user, ...password]);
}

/** Adds listeners with TLS: one for a name and its password or token, one for a client certificate. */
function withListeners(properties: string, keys: string): string {
  const login = (mechanism: string, rest: string) =>
    `listener.name.secure.${mechanism}.sasl.jaas.config=org.apache.kafka.common.security.${rest};`;
  return [
    properties
      .replace(/^listeners=.*$/m, `$&,SECURE://127.0.0.1:${secure},MUTUAL://127.0.0.1:${mutual}`)
      .replace(/^advertised\.listeners=.*$/m, `$&,SECURE://localhost:${secure},MUTUAL://localhost:${mutual}`)
      .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,SECURE:SASL_SSL,MUTUAL:SSL"),
    "ssl.keystore.type=PEM",
    `ssl.keystore.location=${keys}`,
    "ssl.truststore.type=PEM",
    `ssl.truststore.location=${certificates.caFile}`,
    "listener.name.mutual.ssl.client.auth=required",
    "listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    login("plain", 'plain.PlainLoginModule required user_signalbox="plain-password"'),
    login("scram-sha-256", "scram.ScramLoginModule required"),
    login("scram-sha-512", "scram.ScramLoginModule required"),
    login("oauthbearer", 'oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker"'),
    "",
  ].join("\n");
}

/** Creates a token that a broker without an issuer of its own accepts. */
function unsignedToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  return `${part({ alg: "none" })}.${part({ sub: "signalbox", iat: now, exp: now + 3_600 })}.`;
}

async function publishAt(url: string): Promise<void> {
  const { log, metrics, clock, tracer } = context;
  const eventLog = await openEventLog(url, { clientId: "secured", log, metrics, clock, tracer });
  try {
    assert.deepEqual(await eventLog.ensureTopics([topic]), []);
    await eventLog.publish([{ topic: topic.name, key: "k", headers: {}, value: Buffer.from("{}") }]);
  } finally {
    await eventLog.close();
  }
}

const at = (credentials: string, port: number, options: Record<string, string>) =>
  `kafka://${credentials}localhost:${port}?${new URLSearchParams({ tls: "true", ca: certificates.caFile, ...options })}`;

for (const [mechanism, user, password] of [
  ["plain", "signalbox", "plain-password"],
  ["scram-sha-256", "signalbox-256", "scram-256"],
  ["scram-sha-512", "signalbox-512", "scram-512"],
] as const) {
  it(`events are published over TLS by ${mechanism} with the right password only`, async () => {
    await publishAt(at(`${user}:${password}@`, secure, { sasl: mechanism }));
    await assert.rejects(publishAt(at(`${user}:wrong@`, secure, { sasl: mechanism })), /SASL|[Aa]uthentication/);
  });
}

it("events are published with an issuer's token", async () => {
  await publishAt(at("signalbox:client-secret@", secure, { sasl: "oauthbearer", "token-url": tokenUrl }));
  const wrong = at("signalbox:wrong@", secure, { sasl: "oauthbearer", "token-url": tokenUrl });
  await assert.rejects(publishAt(wrong), /token issuer for Kafka answered with status 401/);
});

it("events are published only with a client certificate", async () => {
  await publishAt(at("", mutual, { cert: client.certFile, key: client.keyFile }));
  await assert.rejects(publishAt(at("", mutual, {})));
});

it("a broker with an untrusted certificate gets no password", async () => {
  const options = { sasl: "plain", ca: certificates.otherCaFile };
  await assert.rejects(publishAt(at("signalbox:plain-password@", secure, options)), /certificate|self-signed/);
});
