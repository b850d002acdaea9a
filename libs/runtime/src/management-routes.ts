import type { IncomingHttpHeaders } from "node:http";
import type { ErrorResponses } from "./error-response.ts";
import type { Health, Verdict } from "./health.ts";
import { findProperty, listSources, type ManagedService, type Reader } from "./management-env.ts";
import type { AuthorizeManagement } from "./service-context.ts";
import { mergeMetrics, prometheusContentType, toPrometheusText } from "./telemetry/merge-metrics.ts";
import { type Metrics, openMetricsContentType } from "./telemetry/metrics.ts";

export interface Management {
  readonly health: Health;
  readonly services: readonly ManagedService[];
  /** Additional metrics of the process, besides those of its services. */
  readonly processMetrics?: Metrics;
  readonly info: () => object;
  readonly errorResponse: ErrorResponses;
  /** Called at each request, because it exists only once the service was built. `null` refuses everyone. */
  readonly authorize: () => AuthorizeManagement | null | undefined;
}

export interface ManagementResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One exposable endpoint: its id in the exposure list, the path below the base, and its answer. */
export interface ManagementRoute {
  readonly id: "health" | "metrics" | "info" | "env";
  readonly path: RegExp;
  answer(match: RegExpExecArray, request: ManagementRequest): Promise<ManagementResponse>;
}

interface ManagementRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Address of the client. */
  readonly address: string;
}

/** Lists the routes of a process's management server. Health and metrics need no credentials, values do. */
export function managementRoutes(management: Management): ManagementRoute[] {
  const verdict = (kind: "startup" | "ready" | "live") => async () =>
    answerVerdict((await management.health.report())[kind]);
  return [
    { id: "health", path: /^\/health\/live$/, answer: verdict("live") },
    { id: "health", path: /^\/health\/ready$/, answer: verdict("ready") },
    { id: "health", path: /^\/health\/startup$/, answer: verdict("startup") },
    { id: "health", path: /^\/health$/, answer: verdict("ready") },
    { id: "metrics", path: /^\/metrics$/, answer: (_match, request) => answerMetrics(management, request) },
    { id: "info", path: /^\/info$/, answer: async () => json(200, management.info()) },
    {
      id: "env",
      path: /^\/env$/,
      answer: (_match, request) =>
        authorized(management, request, ["pattern"], (who) => {
          const pattern = request.query.get("pattern");
          return json(200, { propertySources: listSources(management.services, who, pattern) });
        }),
    },
    {
      id: "env",
      path: /^\/env\/([^/]+)$/,
      answer: (match, request) =>
        authorized(management, request, [], (who) => answerProperty(management, match[1] as string, who)),
    },
  ];
}

function json(status: number, body: object): ManagementResponse {
  const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(body) };
}

function answerVerdict(verdict: Verdict): ManagementResponse {
  return json(verdict.status === "up" ? 200 : 503, verdict);
}

/** Answers with OpenMetrics by default, and with the older text when only that is acceptable. */
async function answerMetrics(
  { services, processMetrics }: Management,
  { headers: { accept = "*/*" } }: ManagementRequest,
): Promise<ManagementResponse> {
  const metrics = services.map((service) => service.metrics);
  const text = await mergeMetrics(processMetrics ? [processMetrics, ...metrics] : metrics);
  const isOlder = accept.includes("text/plain") && !accept.includes("openmetrics");
  const contentType = isOlder ? prometheusContentType : openMetricsContentType;
  const headers = { "content-type": contentType, "cache-control": "no-store", vary: "accept" };
  return { status: 200, headers, body: isOlder ? toPrometheusText(text) : text };
}

function answerProperty({ services, errorResponse }: Management, encoded: string, who: Reader): ManagementResponse {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return errorResponse(400, "invalid_request", "The property name is not valid percent-encoding.");
  }
  const found = findProperty(services, name, who);
  return found ? json(200, found) : errorResponse(404, "not_found", "There is no property of this name.");
}

async function authorized(
  management: Management,
  { headers, query, address }: ManagementRequest,
  parameters: readonly string[],
  answer: (who: Reader) => ManagementResponse,
): Promise<ManagementResponse> {
  const { errorResponse } = management;
  const authorize = management.authorize();
  if (authorize === undefined) {
    return errorResponse(503, "unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
  }
  const decision = authorize === null ? "forbidden" : await authorize(headers, address);
  if (typeof decision === "object") {
    const wrong = wrongParameter(query, parameters);
    if (wrong !== null) return errorResponse(400, "invalid_request", wrong);
    const answered = answer(decision.isOperator ? "operator" : "ok");
    if (answered.status === 200) decision.recordRead();
    return answered;
  }
  if (decision === "forbidden") return errorResponse(403, "forbidden", "The scope management:read is required.");
  return errorResponse(401, "unauthorized", "Valid credentials are required.", {
    headers: { "www-authenticate": 'Bearer realm="signalbox", Basic realm="signalbox"' },
  });
}

const parameterLengthMax = 200;

function wrongParameter(query: URLSearchParams, known: readonly string[]): string | null {
  for (const [name, value] of query) {
    if (!known.includes(name)) return "Unknown query parameter.";
    if (query.getAll(name).length > 1) return `${name} must not be repeated.`;
    if (value.length > parameterLengthMax) return `${name} has at most ${parameterLengthMax} characters.`;
  }
  return null;
}
