import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type EdgeExporter, startEdgeExporter } from "@signalbox/infra/edge/exporter/edge-exporter.ts";
import { nginxConfiguration } from "@signalbox/infra/edge/nginx-configuration.ts";
import { dashboards } from "@signalbox/infra/observe/dashboards.ts";
import { createCertificates, eventually, freePort, type TestCertificates } from "@signalbox/testing";
import { reloadNginx, type StartedNginx, startNginx } from "../systems/start-nginx.ts";
import { rings } from "./rings.ts";
import { startProbe } from "./start-probe.ts";
import { findData, type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** The deployed edge, with one worker of few connections and little patience: a full edge costs few sockets. */
const connectionsMax = 60;
const dayMs = 86_400_000;
const opened = new AsyncDisposableStack();
let edge: StartedNginx;
let exporter: EdgeExporter;
let prometheus: RunningPrometheus;
let certificates: TestCertificates;
let shown: { certFile: string; keyFile: string };
let images: { port: number; close(): Promise<void> };

before(async () => {
  certificates = await createCertificates();
  opened.defer(() => certificates.remove());
  shown = await certificates.issue("localhost", { endsAt: new Date(Date.now() + 60 * dayMs) });
  const [tlsPort, statusPort, imagesPort, linesPort] = await Promise.all(Array.from({ length: 4 }, freePort));
  images = await serveImages(imagesPort as number);
  opened.defer(() => images.close());
  edge = await startNginx(({ listen, folder }) =>
    nginxConfiguration({
      listen: `${listen};\n    listen 127.0.0.1:${tlsPort} ssl; ssl_certificate ${shown.certFile}; ssl_certificate_key ${shown.keyFile}`,
      listenForStatus: `127.0.0.1:${statusPort}`,
      workDirectory: folder,
      accessLog: join(folder, "access.log"),
      exporter: `127.0.0.1:${linesPort}`,
      upstreams: { images: `127.0.0.1:${imagesPort}` },
    })
      .replace(/worker_processes \d+;/, "worker_processes 1;")
      .replace(/worker_connections \d+;/, `worker_connections ${connectionsMax};`)
      .replace("proxy_read_timeout 60s;", "proxy_read_timeout 1s;"),
  );
  opened.defer(() => edge.close());
  exporter = await startEdgeExporter({
    host: "127.0.0.1",
    port: 0,
    linesPort: linesPort as number,
    statusUrl: `http://127.0.0.1:${statusPort}/status`,
    connectionsMax,
    certificate: { address: `127.0.0.1:${tlsPort}`, name: "localhost", authorities: certificates.caFile },
  });
  opened.defer(() => exporter.close());
  const probe = await startProbe([`${edge.url}/images`]);
  opened.defer(() => probe.close());
  const scraped = { job_name: "edge", static_configs: [{ targets: [new URL(exporter.url).host] }] };
  prometheus = await startPrometheus(new Map(), [scraped, probe.job]);
  opened.defer(() => prometheus.close());
});
after(() => opened.disposeAsync());

/** A service that answers 401 to strangers, as ours do, and nothing at all at `/images/silent`. */
async function serveImages(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer(({ url }, response) => {
    if (url !== "/images/silent") response.writeHead(401).end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ask = async (path: string, times: number) => {
  const answers = await Promise.all(Array.from({ length: times }, () => fetch(`${edge.url}${path}`)));
  for (const answer of answers) await answer.arrayBuffer();
  return answers.map(({ status }) => status);
};
/** Asks again and again while an alert is waited for. */
const during = async (work: () => Promise<unknown>, untilMs = 15_000) => {
  const endsAt = performance.now() + untilMs;
  while (performance.now() < endsAt) {
    await work();
    await sleep(200);
  }
};
const reload = () => reloadNginx(edge);

test("every panel of the edge finds data without a caller's text in a label", async () => {
  const board = dashboards.find(({ uid }) => uid === "signalbox-edge") ?? assert.fail("no board");
  await findData(prometheus, [board], async () => void (await ask("/images/secret-of-a-caller?token=secret", 1)));
  const text = await (await fetch(exporter.url)).text();
  assert.match(text, /^edge_requests_total\{.*route="\/images".*status="401".*\} \d+$/m);
  assert.doesNotMatch(text, /secret/);
});

test("a service that is gone rings by its 502 at the edge and by its failing probe", async () => {
  await rings(prometheus, "EdgeErrors", async () => {
    await rings(prometheus, "EdgeUnreachable", async () => {
      await images.close();
      await during(() => ask("/images", 4));
      images = await serveImages(images.port);
    });
  });
});

test("a service that does not answer in time rings: 504 at the edge", async () => {
  await rings(prometheus, "EdgeErrors", () => during(() => ask("/images/silent", 10), 8_000));
});

test("an edge rings when it is nearly full or drops connections", async () => {
  const sockets: Socket[] = [];
  const open = async (count: number) => {
    for (let one = 0; one < count; one++) {
      const socket = connect(Number(new URL(edge.url).port), "127.0.0.1");
      socket.on("error", () => {});
      sockets.push(socket);
      await Promise.race([once(socket, "connect"), once(socket, "close")]);
      // A request that began: nginx would close a connection that only waits, to have its place.
      socket.write("GET /images HTTP/1.1\r\n");
    }
  };
  const close = () => sockets.splice(0).map((socket) => socket.destroy());
  const most = connectionsMax * 0.8;
  const nearly = async () => {
    await open(most);
    await eventually(async () => (await prometheus.query(`edge_connections{state="reading"} >= ${most}`)).length > 0);
    close();
  };
  await rings(prometheus, "EdgeFull", nearly, "ticket");
  const dropped = async () => {
    await open(connectionsMax * 2);
    close();
  };
  await rings(prometheus, "EdgeFull", dropped, "page");
});

test("a certificate that ends soon or that callers refuse rings", async () => {
  const show = async (files: { certFile: string; keyFile: string }) => {
    if (files.certFile !== shown.certFile) {
      await copyFile(files.keyFile, shown.keyFile);
      await copyFile(files.certFile, shown.certFile);
    }
    await reload();
  };
  const value = async (metric: string) => Number((await prometheus.query(metric))[0]?.value[1]);
  const issue = (name: string, days: number) =>
    certificates.issue(name, { endsAt: new Date(Date.now() + days * dayMs) });
  const isSeen = (days: number) =>
    eventually(async () => (await value("edge_certificate_end_timestamp_seconds - time()")) < days * 86_400);
  const renew = async () => show(await issue("localhost", 60));

  const shortly = async (days: number) => {
    await show(await issue("localhost", days));
    await isSeen(days);
    await renew();
  };
  await rings(prometheus, "CertificateEnds", () => shortly(10), "ticket");
  await rings(prometheus, "CertificateEnds", () => shortly(1), "page");
  await rings(prometheus, "CertificateWrong", async () => {
    await show(await issue("another.example", 60));
    await eventually(async () => (await value("edge_certificate_trusted")) === 0);
    await renew();
  });
});

test("lines that no longer arrive ring", async () => {
  const file = join(edge.folder, "nginx.conf");
  const whole = await readFile(file, "utf8");
  await rings(prometheus, "EdgeUnmeasured", async () => {
    await writeFile(file, whole.replace(/access_log syslog:[^;]*;/, ""));
    await reload();
    // As long as the rule looks back here, and a scrape more.
    await eventually(async () => (await prometheus.query("increase(edge_log_lines_total[12s]) == 0")).length > 1);
    await writeFile(file, whole);
    await reload();
  });
});
