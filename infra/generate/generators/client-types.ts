import type { Generator } from "../generator.ts";
import { remember } from "../remember.ts";

const folder = "libs/client/src/generated";
const banner = "// Made by `npm run generate` from the OpenAPI documents of all services.\n\n";

/** The schema of any JSON refers to itself, which TypeScript refuses as the type of a member. */
const anyJson = /^#\/components\/schemas\/__schema\d+$/;

/** The types of the client: every path, parameter, body and answer of the product. */
export const clientTypes: Generator = {
  name: "client types",
  kind: "built",
  needs: "openapi-typescript",
  folders: async () => [folder],
  generate: async () => {
    // Loaded here because a start, which leaves this generator out, would load every route for nothing.
    const { openApiDocuments } = await import("../openapi/openapi-documents.ts");
    const { mergeOpenApi } = await import("@signalbox/http");
    const documents = [...(await openApiDocuments()).values()];
    const merged = mergeOpenApi(documents as never, { title: "Signalbox", version: "1" });
    const types = await remember({
      name: "api.d.ts",
      sources: [import.meta.filename],
      inputs: [JSON.stringify(merged)],
      make: () => typesOf(merged),
    });
    return new Map([[`${folder}/api.d.ts`, `${banner}${types}`]]);
  },
};

async function typesOf(document: object): Promise<string> {
  const { default: ts } = await import("typescript");
  const { astToString, default: openapiTS } = await import("openapi-typescript");
  const types = await openapiTS(document as never, {
    alphabetize: true,
    // A member with a default is optional in a request.
    defaultNonNullable: false,
    transform: ({ format }, { path = "" }) => {
      if (format === "binary") return ts.factory.createTypeReferenceNode("Blob");
      return anyJson.test(path) ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword) : undefined;
    },
  });
  return astToString(types);
}
