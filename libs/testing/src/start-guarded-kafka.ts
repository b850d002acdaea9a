import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@signalbox/infra/engines/index.ts";
import { createCertificates } from "./create-certificates.ts";
import { startEngine } from "./start-engine.ts";

/** A broker over TLS that authenticates users by password and enforces their rights. */
export interface GuardedKafka {
  /** Address for administrators: without authentication, with every right. */
  readonly url: string;
  readonly port: number;
  readonly caFile: string;
  /** Value of `events.url` for one of the users. */
  urlOf(user: string): string;
  close(): Promise<void>;
}

/** Starts the broker with these users, who have no rights yet. */
export async function startGuardedKafka(users: readonly string[]): Promise<GuardedKafka> {
  const certificates = await createCertificates();
  const port = await freePort();
  const keys = join(certificates.folder, "broker.pem");
  const parts = [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8"));
  await writeFile(keys, (await Promise.all(parts)).join(""));
  const engine = await startEngine("kafka", { configure: (properties) => guarded(properties, { port, keys, users }) });
  return {
    url: engine.url,
    port,
    caFile: certificates.caFile,
    urlOf: (user) =>
      `kafka://${user}:${passwordOf(user)}@localhost:${port}?${new URLSearchParams({ tls: "true", ca: certificates.caFile, sasl: "plain" })}`,
    async close() {
      await engine.close();
      await certificates.remove();
    },
  };

  function guarded(properties: string, listener: Listener): string {
    return [withListener(properties, listener), `ssl.truststore.location=${certificates.caFile}`, ""].join("\n");
  }
}

const passwordOf = (user: string): string => `password-of-${user}`;

interface Listener {
  readonly port: number;
  readonly keys: string;
  readonly users: readonly string[];
}

function withListener(properties: string, { port, keys, users }: Listener): string {
  const logins = users.map((user) => `user_${user}="${passwordOf(user)}"`).join(" ");
  return [
    properties
      .replace(/^listeners=.*$/m, `$&,GUARDED://127.0.0.1:${port}`)
      .replace(/^advertised\.listeners=.*$/m, `$&,GUARDED://localhost:${port}`)
      .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,GUARDED:SASL_SSL"),
    "ssl.keystore.type=PEM",
    `ssl.keystore.location=${keys}`,
    "ssl.truststore.type=PEM",
    "listener.name.guarded.sasl.enabled.mechanisms=PLAIN",
    `listener.name.guarded.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${logins};`,
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
    "allow.everyone.if.no.acl.found=false",
  ].join("\n");
}
