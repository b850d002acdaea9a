import { AppError, type Clock, minutes } from "@signalbox/core";
import { createDocumentAnswer, createRoutes, mergeOpenApi, type Routes, variesByCoding } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import { z } from "zod";

const OpenApi = z.looseObject({ openapi: z.string().meta({ examples: ["3.1.0"] }) });

interface Dependencies {
  /** The internal listeners that publish a document, by service name. */
  readonly clients: ReadonlyMap<string, InternalClient>;
  /** The gateway's own document. */
  readonly own: Record<string, unknown>;
  readonly clock: Clock;
}

/** Documents change with deployments: a new deployment may be shown up to a minute late. */
const freshMs = minutes(1);

/**
 * Creates the merged OpenAPI document of all services, fetched from each and kept for a minute. Throws AppError
 * `unavailable` during an outage without a kept one: half a document would look complete.
 */
export function createMergedOpenapi({ clients, own, clock }: Dependencies) {
  let kept: { readonly document: Record<string, unknown>; readonly atMs: number } | null = null;

  return async function readMerged(): Promise<Record<string, unknown>> {
    if (kept !== null && clock.steadyMs() - kept.atMs < freshMs) return kept.document;
    try {
      const documents = await Promise.all([...clients].map(([name, client]) => documentOf(name, client)));
      const document = mergeOpenApi([own, ...documents], { title: "Signalbox", version: "1" });
      kept = { document, atMs: clock.steadyMs() };
      return document;
    } catch (error) {
      if (kept !== null) return kept.document;
      throw error;
    }
  };
}

/** Serves the OpenAPI document of the whole product. */
export function openapiRoutes(readMerged: () => Promise<Record<string, unknown>>): Routes {
  const routes = createRoutes();
  const answers = new WeakMap<object, ReturnType<typeof createDocumentAnswer>>();
  routes.get("/openapi.json", {
    operationId: "openApiDocument",
    summary: "Read the OpenAPI document of all services",
    description:
      "OpenAPI 3.1 with every route. `/openapi/webhook-delivery.json` also describes the webhooks that endpoints receive.",
    auth: "anonymous",
    responses: { 200: { content: [mediaType], schema: OpenApi }, 503: "error" },
    cache: "public, max-age=60",
    vary: variesByCoding,
    handle: async ({ headers }) => {
      const document = await readMerged();
      const answer = answers.get(document) ?? createDocumentAnswer(JSON.stringify(document), mediaType);
      answers.set(document, answer);
      return answer(headers);
    },
  });
  return routes;
}

const mediaType = "application/json";

async function documentOf(name: string, client: InternalClient): Promise<Record<string, unknown>> {
  const { status, body } = await client.get(`/openapi/${name}.json`);
  if (status === 200) return JSON.parse(body.toString("utf8"));
  throw new AppError("unavailable", "The document of a service is not available now.", {
    cause: new Error(`${name} answered ${status}`),
    retryAfterSeconds: 5,
  });
}
