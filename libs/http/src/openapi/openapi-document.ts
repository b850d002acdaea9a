import type { Routes } from "../routes/create-routes.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** The OpenAPI 3.1 document of a route table. */
export declare function openApiDocument(routes: Routes, info: OpenApiInfo): Record<string, unknown>;
/** One document of several services' documents. */
export declare function mergeOpenApi(
  documents: readonly Record<string, unknown>[],
  info: OpenApiInfo,
): Record<string, unknown>;
