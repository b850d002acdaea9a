import type { IncomingHttpHeaders } from "node:http";
import { type Metrics, mergeMetrics, openMetricsContentType } from "@signalbox/telemetry";
import type { ErrorResponses } from "./error-response.ts";
import type { Health, Verdict } from "./health.ts";
import { findProperty, listSources, type ManagedService } from "./management-env.ts";
import type { AuthorizeManagement } from "./service-context.ts";

export interface Management {
  readonly health: Health;
  readonly services: readonly ManagedService[];
  /** More metrics of the process, beside those of its services. */
  readonly processMetrics?: Metrics;
  readonly info: () => object;
  readonly errorResponse: ErrorResponses;
  /** Asked at each request, because it is known only once the service has been built. `null` refuses everybody. */
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
  answer(match: RegExpExecArray, headers: IncomingHttpHeaders): Promise<ManagementResponse>;
}

/** Lists what the management server of a process answers. Health and metrics need no credentials, values do. */
export function managementRoutes(management: Management): ManagementRoute[] {
  const verdict = (kind: "startup" | "ready" | "live") => async () =>
    answerVerdict((await management.health.report())[kind]);
  return [
    { id: "health", path: /^\/health\/live$/, answer: verdict("live") },
    { id: "health", path: /^\/health\/ready$/, answer: verdict("ready") },
    { id: "health", path: /^\/health\/startup$/, answer: verdict("startup") },
    { id: "health", path: /^\/health$/, answer: verdict("ready") },
    { id: "metrics", path: /^\/metrics$/, answer: () => answerMetrics(management) },
    { id: "info", path: /^\/info$/, answer: async () => json(200, management.info()) },
    {
      id: "env",
      path: /^\/env$/,
      answer: (_match, headers) =>
        authorized(management, headers, () => json(200, { propertySources: listSources(management.services) })),
    },
    {
      id: "env",
      path: /^\/env\/([^/]+)$/,
      answer: (match, headers) => authorized(management, headers, () => answerProperty(management, match[1] as string)),
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

async function answerMetrics({ services, processMetrics }: Management): Promise<ManagementResponse> {
  const metrics = services.map((service) => service.metrics);
  const body = await mergeMetrics(processMetrics ? [processMetrics, ...metrics] : metrics);
  return { status: 200, headers: { "content-type": openMetricsContentType, "cache-control": "no-store" }, body };
}

function answerProperty({ services, errorResponse }: Management, encoded: string): ManagementResponse {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return errorResponse(400, "invalid_request", "The property name is not valid percent-encoding.");
  }
  const found = findProperty(services, name);
  return found ? json(200, found) : errorResponse(404, "not_found", "There is no property of this name.");
}

async function authorized(
  management: Management,
  headers: IncomingHttpHeaders,
  answer: () => ManagementResponse,
): Promise<ManagementResponse> {
  const { errorResponse } = management;
  const authorize = management.authorize();
  if (authorize === undefined) {
    return errorResponse(503, "unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
  }
  const decision = authorize === null ? "forbidden" : await authorize(headers);
  if (decision === "ok") return answer();
  if (decision === "forbidden") return errorResponse(403, "forbidden", "The scope management:read is needed.");
  return errorResponse(401, "unauthorized", "Valid credentials are needed.", {
    headers: { "www-authenticate": 'Bearer realm="signalbox", Basic realm="signalbox"' },
  });
}
