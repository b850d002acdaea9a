import ts from "typescript";
import type { Generator } from "../generator.ts";
import { openApiDocuments } from "../openapi/openapi-documents.ts";

const path = "libs/client/src/api.d.ts";
const banner = "// Made by `npm run generate` from the OpenAPI documents of all services.\n\n";

/** The types of the client: every path, parameter, body and answer of the product. */
export const clientTypes: Generator = {
  name: "client types",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { mergeOpenApi } = await import("@signalbox/http");
    const { astToString, default: openapiTS } = await import("openapi-typescript");
    const documents = [...(await openApiDocuments()).values()];
    const merged = mergeOpenApi(documents as never, { title: "Signalbox", version: "1" });
    const types = await openapiTS(merged as never, {
      alphabetize: true,
      // A member with a default may be left out of a request.
      defaultNonNullable: false,
      transform: ({ format }) => (format === "binary" ? ts.factory.createTypeReferenceNode("Blob") : undefined),
    });
    return new Map([[path, `${banner}${astToString(types)}`]]);
  },
};
