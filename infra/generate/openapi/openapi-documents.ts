import { mergeOpenApi, openApiDocument } from "@signalbox/http";
import { serviceDoors } from "../access/service-doors.ts";

/** The parts of an OpenAPI document that are read here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
  } & Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly [string, ...string[]];
  readonly parameters?: readonly { readonly in?: string; readonly name?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: OpenApiContent };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

interface OpenApiResponse {
  readonly $ref?: string;
  readonly content?: OpenApiContent;
}

/** By media type. */
export interface OpenApiContent {
  readonly [type: string]: {
    readonly schema: OpenApiSchema;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
  };
}

export interface OpenApiSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema & { readonly items?: OpenApiSchema }>>;
}

/** Builds the OpenAPI document of every service by the service's name, from its declarations alone. */
export async function openApiDocuments(): Promise<ReadonlyMap<string, OpenApiDocument>> {
  return new Map(
    (await serviceDoors()).map(({ service, routes }) => {
      const sends = service === "webhook-delivery" ? ({ sendsWebhooks: true } as const) : {};
      const info = { title: `Signalbox ${service}`, version: "1", ...sends };
      return [service, openApiDocument({ list: routes }, info) as unknown as OpenApiDocument];
    }),
  );
}

/** Merges the documents of all services into the one that the gateway serves and the client is made from. */
export async function mergedDocument(): Promise<OpenApiDocument> {
  const documents = [...(await openApiDocuments()).values()];
  return mergeOpenApi(documents as never, { title: "Signalbox", version: "1" }) as unknown as OpenApiDocument;
}
