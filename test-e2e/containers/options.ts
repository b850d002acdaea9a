import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once as emitted } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import tls from "node:tls";
import { promisify } from "node:util";
import { serviceNames } from "@signalbox/core";
import { eventually, freePort } from "@signalbox/testing";
import { createCaller } from "./caller.ts";
import { type ComposedSystem, composedSystem } from "./composed-system.ts";
import { linesWith, once } from "./page-lines.ts";

const up =
  "docker compose -f docker-compose.yml -f compose.tls.yml --profile observe --profile mail up --build --detach";
const timeout = { timeoutMs: 600_000 };
let system: ComposedSystem;
let certificates: string;
let baseUrl: string;
let mailboxUrl: string;
let prometheusUrl: string;
let alertmanagerUrl: string;

before(async () => {
  certificates = await makeCertificates();
  const [edge, tls, mailbox, prometheus, alertmanager] = await Promise.all(Array.from({ length: 5 }, freePort));
  baseUrl = `https://localhost:${tls}`;
  [mailboxUrl, prometheusUrl, alertmanagerUrl] = [mailbox, prometheus, alertmanager].map(
    (port) => `http://127.0.0.1:${port}`,
  ) as [string, string, string];
  system = await composedSystem("docker-compose.yml", Number(edge), {
    adds: ["compose.tls.yml"],
    variables: {
      EDGE_CERTIFICATES: certificates,
      // It signed itself.
      EDGE_AUTHORITY: join(certificates, "tls.crt"),
      EDGE_TLS_ADDRESS: "127.0.0.1",
      EDGE_TLS_PORT: String(tls),
      BASE_URL: baseUrl,
      MAIL_URL: "smtp://mailbox:1025",
      MAILBOX_PORT: String(mailbox),
      PROMETHEUS_PORT: String(prometheus),
      ALERTMANAGER_PORT: String(alertmanager),
    },
  });
  await system.remove();
  const [, makeSecrets = ""] = await linesWith("docker compose up --detach");
  await system.shell(makeSecrets);
  await system.shell(up);
});
after(async () => {
  await system.remove();
  await rm(certificates, { recursive: true });
});

/** Creates a certificate that only this test trusts. The user of nginx may read its key. */
async function makeCertificates(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-certificates-"));
  const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  const self = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  await promisify(execFile)("openssl", [
    ...[...self, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
  ]);
  for (const path of [folder, key, certificate]) await chmod(path, 0o755);
  return folder;
}

// Each test prepares what it needs, so that each also runs alone.
const keyOfAdministrator = once(async () => {
  const isReady = async () => (await system.exec("account", ["infra/docker/healthcheck.sh"])) !== null;
  await eventually(isReady, { ...timeout, message: "account is ready" });
  return (await system.shell("docker compose exec account infra/docker/run-service.sh first-key")).trim();
});
const administrator = once(async () => createCaller(() => system.baseUrl, await keyOfAdministrator()));

const fingerprint = async () => new X509Certificate(await readFile(join(certificates, "tls.crt"))).fingerprint256;

/** Sends HTTP/2 over TLS, as browsers do, and trusts only the deployment's certificate. */
async function ask(path: string, headers: Readonly<Record<string, string>>) {
  const ca = await readFile(join(certificates, "tls.crt"));
  const port = Number(new URL(baseUrl).port);
  const socket = tls.connect({ host: "127.0.0.1", port, servername: "localhost", ca, ALPNProtocols: ["h2"] });
  await emitted(socket, "secureConnect");
  const shown = socket.getPeerX509Certificate()?.fingerprint256;
  const session = http2.connect(baseUrl, { createConnection: () => socket });
  try {
    const stream = session.request({ ":path": path, ...headers });
    const status = new Promise<number>((resolve, reject) => {
      stream.once("response", (answer) => resolve(Number(answer[":status"])));
      session.once("error", reject);
      stream.once("error", reject);
    });
    stream.resume();
    return { status: await status, protocol: session.alpnProtocol, shown };
  } finally {
    session.close();
  }
}

test("the edge speaks TLS with the certificate of the house, at the address in links", async () => {
  const caller = await administrator();
  const id = await eventually(() => caller.upload(), timeout);
  const { url } = (await caller.api(`/images/${id}`)).json as { url: string };
  assert.ok(url.startsWith(`${baseUrl}/images/`), url);
  const key = await keyOfAdministrator();
  const there = new URL(url);
  assert.deepEqual(await ask(`${there.pathname}${there.search}`, { "x-api-key": key }), {
    status: 200,
    protocol: "h2",
    shown: await fingerprint(),
  });
  assert.equal((await ask("/images", { "x-api-key": "of nobody" })).status, 401);
});

test("new certificates are taken while the edge runs", async () => {
  await administrator();
  const before = await fingerprint();
  assert.equal((await ask("/api/account/", {})).shown, before);
  const fresh = await makeCertificates();
  for (const name of ["tls.key", "tls.crt"])
    await promisify(execFile)("cp", [join(fresh, name), join(certificates, name)]);
  await rm(fresh, { recursive: true });
  const wanted = await fingerprint();
  assert.notEqual(wanted, before);
  await system.shell("docker kill --signal HUP docker-compose_edge_1");
  // Only the new certificate is trusted by now, and each request uses a new connection.
  await eventually(async () => {
    const { status, shown } = await ask("/api/account/", {});
    return status === 401 && shown === wanted;
  }, timeout);
});

test("the mailbox shows the code that confirms an address", async () => {
  const caller = await administrator();
  const contact = JSON.stringify({ contact_address: "ada@example.org" });
  assert.equal((await caller.api("/api/account/", { method: "PATCH", body: contact })).status, 200);
  const mail = await eventually(async () => {
    const answer = await fetch(`${mailboxUrl}/api/v1/message/latest`);
    return answer.ok ? ((await answer.json()) as { To: { Address: string }[]; Text: string }) : null;
  }, timeout);
  assert.deepEqual(mail.To, [{ Address: "ada@example.org" }]);
  const [code] = /\b\d{8}\b/.exec(mail.Text) ?? assert.fail(mail.Text);
  const confirmed = await caller.api("/api/account/contact-change/confirm", {
    method: "POST",
    body: JSON.stringify({ code }),
  });
  assert.equal(confirmed.json.contact_address, "ada@example.org", JSON.stringify(confirmed.json));
});

/** No package contains the Kafka exporter or the collector, so their addresses do not answer here. */
const jobsWithoutStandIn = ["kafka", "collector"];

test("Prometheus has every rule and the metrics of every service and exporter", async () => {
  await administrator();
  // biome-ignore lint/suspicious/noExplicitAny: the answers of Prometheus, of which a test reads a few members.
  const read = async (path: string): Promise<any> =>
    ((await (await fetch(`${prometheusUrl}/api/v1/${path}`)).json()) as { data: unknown }).data;
  await eventually(async () => {
    const { activeTargets } = await read("targets");
    const up = activeTargets.filter(({ health }: { health: string }) => health === "up");
    const jobs = up.map(({ labels }: { labels: { job: string } }) => labels.job).toSorted();
    const wanted = [
      ...["alertmanager", "edge", "node", "postgres", "prometheus", "redis"],
      ...serviceNames.map(() => "signalbox"),
      // Every area behind the edge.
      ...serviceNames.filter((name) => name !== "image-worker").map(() => "probe"),
    ];
    assert.deepEqual(
      jobs.filter((job: string) => !jobsWithoutStandIn.includes(job)),
      wanted.toSorted(),
    );
  }, timeout);
  const metricsOf = async (query: string) =>
    (await read(`query?query=${encodeURIComponent(query)}`)).result.map(({ value }: { value: [number, string] }) =>
      Number(value[1]),
    );
  for (const engine of ["pg_up", "redis_up", "edge_up", "edge_certificate_trusted"])
    await eventually(async () => assert.deepEqual(await metricsOf(engine), [1], engine), timeout);
  // The probes' own requests are among them.
  const counted = 'sum(edge_requests_total{job="edge",service="images"})';
  await eventually(async () => assert.ok(((await metricsOf(counted))[0] ?? 0) > 0), timeout);
  await eventually(async () => {
    const { groups } = await read("rules");
    const rules = groups.flatMap(({ rules }: { rules: object[] }) => rules) as { name: string; health: string }[];
    assert.ok(rules.length > 0);
    assert.deepEqual(
      rules.filter(({ health }) => health !== "ok").map(({ name }) => name),
      [],
    );
  }, timeout);
});

test("the alert that always rings reaches Alertmanager", async () => {
  await eventually(async () => {
    const alerts = (await (await fetch(`${alertmanagerUrl}/api/v2/alerts`)).json()) as {
      labels: { alertname: string };
    }[];
    return alerts.some(({ labels }) => labels.alertname === "Watchdog");
  }, timeout);
});
