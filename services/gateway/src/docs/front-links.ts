/** A page of the deployment that a person or a program opens first. */
export interface FrontLink {
  readonly id: string;
  readonly name: string;
  /** Relative to the base URL, since a deployment may be below a path. */
  readonly path: string;
}

/** The pages that `GET /` names and `npm start` prints. */
export const publicLinks: readonly FrontLink[] = [
  { id: "console", name: "Console", path: "console/" },
  { id: "documents", name: "Documents", path: "docs" },
  { id: "graphql", name: "GraphQL", path: "graphql" },
  { id: "schema", name: "Schema", path: "schema.graphql" },
  { id: "openapi", name: "OpenAPI", path: "openapi.json" },
  { id: "asyncapi", name: "AsyncAPI", path: "asyncapi.yaml" },
];

/** Builds the same links as absolute URLs. */
export const publicLinksAt = (baseUrl: string): readonly { readonly name: string; readonly url: string }[] =>
  publicLinks.map(({ name, path }) => ({ name, url: `${baseUrl}/${path}` }));
