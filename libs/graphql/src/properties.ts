/** The properties of every subgraph. */
export const graphqlProperties = {
  "graphql.document-cache.max-entries": {
    type: "integer",
    default: 500,
    unit: "documents",
    min: 1,
    max: 100_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "How many parsed and validated documents a subgraph remembers; the gateway sends the same few again and again.",
  },
} as const;
