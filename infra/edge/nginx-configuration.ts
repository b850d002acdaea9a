import {
  type ErrorCode,
  errorBody,
  graphqlErrorBody,
  MiB,
  requestIdPattern,
  type ServiceName,
  securityHeaders,
  transportSecurity,
} from "@signalbox/core";
import { edgeRoutes } from "./edge-routes.ts";

export interface NginxOptions {
  /** `host:port` of each service's public listener, or of several of them. */
  readonly upstreams: Readonly<Partial<Record<ServiceName, string | readonly string[]>>>;
  /**
   * Resolves the names of the upstreams repeatedly at this DNS server, so that replicas may be added, removed and
   * moved. Requires nginx 1.27.3; without it nginx keeps the addresses of its start.
   */
  readonly resolver?: string;
  /** File for the access log, a line of JSON for each request. */
  readonly accessLog: string;
  /** `address:port` of the exporter that counts requests. An address, because nginx would resolve a name only once. */
  readonly exporter?: string;
  /** Value of `listen`: `127.0.0.1:8080` or `8080`. */
  readonly listen: string;
  /** Address for scraping connections and requests. Without it the status is not published. */
  readonly listenForStatus?: string;
  /** A pattern of optional files with more `listen` directives, for example with TLS. */
  readonly listenFiles?: string;
  /** A writable folder for nginx: its pid and temporary files. */
  readonly workDirectory: string;
}

/** Not one for each core of the machine: the container has a limit of memory, and its connections are a known number. */
const workers = 4;
const workerConnections = 4096;
/** A request in progress has two: one of its client and one to a service. */
export const edgeConnectionsMax = workers * workerConnections;

/** Larger than the largest upload (20 MiB) with its form; the services enforce the published limits themselves. */
const bodyBytesMax = 24 * MiB;

const refusals: ReadonlyArray<[nginxStatus: string, status: number, code: ErrorCode, message: string]> = [
  ["400", 400, "invalid_request", "The request is not well formed."],
  ["404", 404, "not_found", "Nothing is published here."],
  ["413", 413, "payload_too_large", "The request body is too large."],
  ["414", 414, "invalid_request", "The request target is too long."],
  ["494", 431, "invalid_request", "The request headers are too large."],
  ["500", 500, "server_error", "Something went wrong on our side."],
  ["502", 502, "bad_gateway", "The service behind this path did not answer."],
  ["503", 503, "unavailable", "The service behind this path is not available."],
  ["504", 504, "timeout", "The service behind this path did not answer in time."],
];

/** Passes a request on to the service behind its path. */
const proxying = `    # Errors of a service pass through unchanged; only nginx's own refusals are rewritten.
    proxy_intercept_errors off;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Connection $connection_upgrade;
    proxy_set_header Upgrade $edge_upgrade;
    proxy_set_header X-Request-Id $edge_request_id;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    # The services count and verify bodies while they arrive, so spooling them here gains nothing.
    proxy_request_buffering off;
    proxy_connect_timeout 3s;
    proxy_read_timeout 60s;
    # After a failed connection another server is tried, and then a backup. A POST or PATCH that reached a service may have had its effect,
    # so nginx never repeats them, and it repeats nothing after five seconds: then the service was slow, not down.
    proxy_next_upstream error timeout;
    proxy_next_upstream_tries 3;
    proxy_next_upstream_timeout 5s;`;

/** Builds the whole nginx.conf of the edge. Every answer of nginx itself has the error form of CONTRACT §2. */
export function nginxConfiguration(options: NginxOptions): string {
  const { upstreams, workDirectory, accessLog, exporter, resolver } = options;
  return `# Generated from infra/edge/edge-routes.ts; change that table instead.
worker_processes ${workers};
daemon off;
pid ${workDirectory}/nginx.pid;
error_log stderr warn;
events { worker_connections ${workerConnections}; }
http {
  # Without the query, which contains signatures and search terms, and without a secret behind an ingest address. A status of the edge itself has no upstream_status.
  map $request_uri $edge_path { "~^(?<address_alone>/ingest/[^/?]+/)[^?]" "\${address_alone}******"; "~^(?<path_alone>[^?]*)" $path_alone; }
  log_format edge escape=json '{${accessMembers}}';
  access_log ${accessLog} edge;${exporter === undefined ? "" : countedLog(exporter)}
  server_tokens off;
  default_type application/octet-stream;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `  ${name}_temp_path ${workDirectory}/${name};`).join("\n")}
  client_max_body_size ${bodyBytesMax};
  client_header_timeout 15s;
  # Longer than a service waits for a body, so that its 408 reaches the client: nginx would only close the connection.
  client_body_timeout 75s;
  send_timeout 30s;
  # One value has up to 64 KiB, and a service refuses more than http.header-max-bytes.
  large_client_header_buffers 2 80k;
  # nginx drops such names without a word; a service refuses what it does not know, such as the attribute ce-my_tenant.
  underscores_in_headers on;
  keepalive_timeout 75s;
  # A request id from outside is kept only when it is short and plain, because it is written to logs and answers.
  map $http_x_request_id $edge_request_id {
    "~${requestIdPattern}" $http_x_request_id;
    default req_$request_id;
  }
  # An offer of another protocol, such as the h2c of Java's HttpClient, is ignored and not passed on.
  map $http_upgrade $edge_upgrade { "~*^websocket$" websocket; default ""; }
  # An empty value is not sent.
  map $scheme $edge_transport_security { https "${transportSecurity[1]}"; default ""; }
  map $edge_upgrade $connection_upgrade { websocket upgrade; default ""; }
${Object.entries(upstreams)
  .map(([service, targets]) => upstream(service, [targets].flat(), resolver))
  .join("\n")}
${server(options)}
${options.listenForStatus === undefined ? "" : statusServer(options.listenForStatus)}}
`;
}

function server({ listen, listenFiles, upstreams }: NginxOptions): string {
  return `  server {
    listen ${listen};${listenFiles === undefined ? "" : `\n    include ${listenFiles};`}
${proxying}
${refusals.map(refusal).join("\n")}
${refusals.map(graphqlRefusal).join("\n")}
    location / { return 404; }
${edgeRoutes
  .filter(({ service }) => upstreams[service] !== undefined)
  .map(location)
  .join("\n")}
  }`;
}

const statusServer = (listen: string): string => `  server {
    listen ${listen};
    access_log off;
    location = /status { stub_status; }
    location / { return 404; }
  }
`;

const accessFields = {
  time: "$time_iso8601",
  service: "edge",
  request_id: "$edge_request_id",
  method: "$request_method",
  path: "$edge_path",
  status: "$status",
  duration_seconds: "$request_time",
  client_address: "$remote_addr",
  upstream: "$upstream_addr",
  upstream_status: "$upstream_status",
  upstream_seconds: "$upstream_response_time",
};
/** One datagram a request: nginx never waits for the exporter, and an absent one costs lines in the error log only. */
const countedLog = (exporter: string): string => `
  log_format counted escape=json '{"path":"$edge_path","status":"$status","upstream_seconds":"$upstream_response_time"}';
  access_log syslog:server=${exporter},tag=edge,nohostname counted;`;

const accessMembers = Object.entries(accessFields)
  .map(([name, value]) => `"${name}":"${value}"`)
  .join(",");

/**
 * Idle time after which nginx closes an upstream connection. Shorter than a stopping service keeps it open
 * (`shutdown.keep-alive`): closed by the service, it would lose a POST or PATCH sent at the same moment.
 */
const idleSeconds = 2;

/**
 * Builds an upstream. A server with failing connections is skipped for two seconds, and tried again after that. nginx
 * never skips the only one. When all are skipped each is tried as its own backup: in a roll, one that has just come
 * back is still skipped when the next one stops. The zone shares the state between the worker processes.
 */
function upstream(service: string, targets: readonly string[], resolver: string | undefined): string {
  const resolve = resolver === undefined ? "" : " resolve";
  const servers = ["max_fails=3 fail_timeout=2s", "backup max_fails=0"].flatMap((rule) =>
    targets.map((target) => `server ${target} ${rule}${resolve};`),
  );
  const dns = resolver === undefined ? "" : ` resolver ${resolver} valid=5s; resolver_timeout 2s;`;
  return `  upstream ${service} { zone ${service} 128k;${dns} ${servers.join(" ")} keepalive 64; keepalive_timeout ${idleSeconds}s; }`;
}

type OwnRefusal = (typeof refusals)[number];

/**
 * The page that explains the error codes, below the requested address: written out, the `Host` of a stranger would be the
 * address that a cached refusal leads to.
 */
const docs = "/docs/errors";

function refusal(one: OwnRefusal): string {
  const [, , code, message] = one;
  return `    ${errorPage(one, refused)}
${refusalLocation(one, refused, errorBody({ code, message, requestId: "$edge_request_id", docs }))}`;
}

function graphqlRefusal(one: OwnRefusal): string {
  const [, , code, message] = one;
  return refusalLocation(one, graphqlRefused, graphqlErrorBody({ code, message, requestId: "$edge_request_id" }));
}

// A path and not a named location: a too long target leaves no path, which nginx treats as its own error.
const refused = "/refused-by-the-edge";
const graphqlRefused = "/refused-by-the-edge/graphql";

function errorPage([nginxStatus, status]: OwnRefusal, folder: string): string {
  const rewritten = nginxStatus === String(status) ? "" : ` =${status}`;
  return `error_page ${nginxStatus}${rewritten} ${folder}/${status};`;
}

function refusalLocation([, status]: OwnRefusal, folder: string, body: string): string {
  return `    location = ${folder}/${status} {
      internal;
      default_type "application/json; charset=utf-8";
      add_header X-Request-Id $edge_request_id always;
${securityHeaders.map(([name, value]) => `      add_header ${name} "${value}" always;`).join("\n")}
      add_header ${transportSecurity[0]} $edge_transport_security always;
      add_header Cache-Control no-store always;
      return ${status} '${body}';
    }`;
}

function location({ prefix, service, exact, streams, errors }: (typeof edgeRoutes)[number]): string {
  const rules = [
    `proxy_pass http://${service};`,
    ...(errors === "graphql" ? refusals.map((one) => errorPage(one, graphqlRefused)) : []),
    ...(streams === true ? ["proxy_buffering off;", "proxy_read_timeout 1h;"] : []),
  ].join(" ");
  const itself = `    location = ${prefix} { ${rules} }`;
  if (exact) return itself;
  return `${itself}
    location ^~ ${prefix}/ { ${rules} }`;
}
