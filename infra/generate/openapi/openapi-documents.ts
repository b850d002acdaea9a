import { serviceDoors } from "../access/service-doors.ts";

/** The parts of an OpenAPI document that are read here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: { readonly content: OpenApiContent };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: OpenApiContent }>>;
}

export type OpenApiContent = Readonly<Record<string, OpenApiMediaType>>;

interface OpenApiMediaType {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}

/** Builds the OpenAPI document of every service by the service's name, from its declarations alone. */
export async function openApiDocuments(): Promise<ReadonlyMap<string, OpenApiDocument>> {
  const { openApiDocument } = await import("@signalbox/http");
  const services = await serviceDoors();
  return new Map(
    services.map(({ service, routes }) => {
      const sends = service === "webhook-delivery" ? ({ sendsWebhooks: true } as const) : {};
      const info = { title: `Signalbox ${service}`, version: "1", ...sends };
      return [service, openApiDocument({ list: routes }, info) as unknown as OpenApiDocument];
    }),
  );
}

/** Merges the documents of all services into the one that the gateway serves and the client is made from. */
export async function mergedDocument(): Promise<OpenApiDocument> {
  const { mergeOpenApi } = await import("@signalbox/http");
  const documents = [...(await openApiDocuments()).values()];
  return mergeOpenApi(documents as never, { title: "Signalbox", version: "1" }) as unknown as OpenApiDocument;
}
