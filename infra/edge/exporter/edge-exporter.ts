import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import {
  type Counter,
  createMetrics,
  type Metrics,
  nginxMetrics,
  openMetricsContentType,
  prometheusContentType,
  toPrometheusText,
} from "@signalbox/runtime";
import { parseAccessLine } from "./access-line.ts";

interface EdgeExporterOptions {
  readonly host: string;
  /** Port for Prometheus; 0 chooses one. */
  readonly port: number;
  /** UDP port that nginx sends its access log to; 0 chooses one. */
  readonly linesPort: number;
  /** Address of `stub_status`. */
  readonly statusUrl: string;
  /** All connections that the workers of nginx may have open together. */
  readonly connectionsMax: number;
  /** Without it no certificate is looked at. */
  readonly certificate?: CertificateCheck | undefined;
}

export type EdgeExporter = Awaited<ReturnType<typeof startEdgeExporter>>;
type EdgeMetrics = Metrics<typeof nginxMetrics>;

/** Shorter than the ten seconds that Prometheus waits for a scrape. */
const lookMs = 3_000;
/** Room for a burst while this process is busy; the kernel drops what comes beyond it, and nginx never waits. */
const receiveBytes = 1024 * 1024;

/** Counts the requests of nginx from its access log, and shows its connections and its certificate. */
export async function startEdgeExporter(options: EdgeExporterOptions) {
  const metrics = createMetrics({ service: "edge", catalogue: nginxMetrics });
  await using opened = new AsyncDisposableStack();
  const lines = createSocket({ type: "udp4", recvBufferSize: receiveBytes });
  lines.on("message", countLines(metrics));
  lines.bind(options.linesPort, options.host);
  await once(lines, "listening");
  opened.defer(() => new Promise<void>((resolve) => lines.close(() => resolve())));
  const look = createLook(metrics, options);
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") return void response.writeHead(404).end();
    const isNewer = request.headers.accept?.includes("application/openmetrics-text") ?? false;
    look()
      .then(() => metrics.text())
      .then((text) => {
        response.setHeader("content-type", isNewer ? openMetricsContentType : prometheusContentType);
        response.end(isNewer ? text : toPrometheusText(text));
      })
      .catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.writeHead(500).end();
      });
  });
  server.requestTimeout = lookMs;
  server.maxConnections = 20;
  server.listen(options.port, options.host);
  await once(server, "listening");
  opened.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const closes = opened.move();
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}/metrics`,
    linesPort: lines.address().port,
    close: () => closes.disposeAsync(),
  };
}

function countLines(metrics: EdgeMetrics): (message: Buffer) => void {
  const requests = metrics.counter("edge_requests_total");
  const upstream = metrics.histogram("edge_upstream_seconds");
  const lines = metrics.counter("edge_log_lines_total");
  // Both are there from the start: an alert misses lines that never came.
  for (const outcome of ["read", "unreadable"]) lines.inc({ outcome }, 0);
  return (message) => {
    const line = parseAccessLine(message.toString());
    lines.inc({ outcome: line ? "read" : "unreadable" });
    if (line === null) return;
    const { route, service, status, upstreamSeconds } = line;
    requests.inc({ route, service, status });
    if (upstreamSeconds !== null) upstream.observe({ service }, upstreamSeconds);
  };
}

/** Brings connections and certificate up to date; done for each scrape. */
function createLook(metrics: EdgeMetrics, options: EdgeExporterOptions): () => Promise<void> {
  const up = metrics.gauge("edge_up");
  const connections = metrics.gauge("edge_connections");
  const accepted = followTotal(metrics.counter("edge_connections_accepted_total"));
  const dropped = followTotal(metrics.counter("edge_connections_dropped_total"));
  metrics.gauge("edge_connections_max").set({}, options.connectionsMax);
  const certificate = options.certificate && createCertificateLook(metrics, options.certificate);
  return async () => {
    const [status] = await Promise.all([readNginxStatus(options.statusUrl, lookMs), certificate?.()]);
    up.set({}, status === null ? 0 : 1);
    if (status === null) return;
    for (const state of connectionStates) connections.set({ state }, status[state]);
    accepted(status.accepted);
    dropped(status.accepted - status.handled);
  };
}

function createCertificateLook(metrics: EdgeMetrics, check: CertificateCheck): () => Promise<void> {
  const end = metrics.gauge("edge_certificate_end_timestamp_seconds");
  const trusted = metrics.gauge("edge_certificate_trusted");
  return async () => {
    const shown = await shownCertificate(check, lookMs);
    trusted.set({}, shown?.isTrusted ? 1 : 0);
    if (shown !== null) end.set({}, shown.endsAtSeconds);
  };
}

/** Makes a counter follow a total of nginx, which begins again at 0 when nginx does. */
function followTotal(counter: Counter): (total: number) => void {
  let last = 0;
  return (total) => {
    counter.inc({}, total >= last ? total - last : total);
    last = total;
  };
}

/** The figures of nginx's `stub_status`; accepted and handled since nginx started. */
type NginxStatus = Readonly<Record<(typeof connectionStates)[number] | "accepted" | "handled", number>>;
const connectionStates = ["active", "reading", "writing", "waiting"] as const;

/** Reads the page; null when nginx does not answer with it in time. */
async function readNginxStatus(url: string, timeoutMs: number): Promise<NginxStatus | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const text = await fetch(url, { signal, redirect: "error" })
    .then((answer) => answer.text())
    .catch(() => "");
  const { groups } = stubStatus.exec(text) ?? {};
  if (groups === undefined) return null;
  const figures = Object.entries(groups).map(([name, figure]) => [name, Number(figure)]);
  return Object.fromEntries(figures) as NginxStatus;
}

const stubStatus =
  /^Active connections: (?<active>\d+)\s+server accepts handled requests\s+(?<accepted>\d+) (?<handled>\d+) \d+\s+Reading: (?<reading>\d+) Writing: (?<writing>\d+) Waiting: (?<waiting>\d+)/;

/** The TLS listener to look at, and what its certificate must be. */
interface CertificateCheck {
  /** `edge:8443`. */
  readonly address: string;
  /** The host that callers type. */
  readonly name: string;
  /** File of the authorities to trust; left out or empty, those of Node. */
  readonly authorities?: string | undefined;
}

interface ShownCertificate {
  readonly endsAtSeconds: number;
  /** True when it is for the name, in its time, and of a trusted authority. */
  readonly isTrusted: boolean;
}

/** Shakes hands as a caller does and returns what was shown; null when there was no handshake within the time. */
async function shownCertificate(check: CertificateCheck, timeoutMs: number): Promise<ShownCertificate | null> {
  const { address, name, authorities } = check;
  const { hostname: host, port } = new URL(`tls://${address}`);
  // Read each time: a renewed authority counts at once.
  const own = authorities === undefined ? "" : await readFile(authorities, "utf8").catch(() => "");
  const ca = own.trim() === "" ? undefined : own;
  const socket = connect({ host, port: Number(port), servername: name, rejectUnauthorized: false, ca });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(timeoutMs) });
    const endsAtSeconds = Date.parse(socket.getPeerX509Certificate()?.validTo ?? "") / 1000;
    return Number.isFinite(endsAtSeconds) ? { endsAtSeconds, isTrusted: socket.authorized } : null;
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}
