import { readFile } from "node:fs/promises";
import { AppError, systemClock } from "@signalbox/core";
import { createSubgraph, field, type Resolvers } from "@signalbox/http";
import { createLogger } from "@signalbox/runtime";
import { type ServedListener, serveListener } from "@signalbox/testing";

/** The subgraphs of Apollo's compatibility suite, with the data that its README prescribes. */
export const compatibilitySubgraphs = ["products", "users", "inventory"] as const;
export type CompatibilitySubgraph = (typeof compatibilitySubgraphs)[number];

const user = {
  email: "support@apollographql.com",
  name: "Jane Smith",
  totalProductsCreated: 1_337,
  yearsOfEmployment: 10,
};
const dimensions = { size: "small", weight: 1, unit: "kg" };
const researches = [
  { study: { caseNumber: "1234", description: "Federation Study" }, outcome: null },
  { study: { caseNumber: "1235", description: "Studio Study" }, outcome: null },
];
const product = (id: string, sku: string, variation: string, research: number) => ({
  id: `apollo-${id}`,
  sku,
  package: `@apollo/${sku}`,
  variation: { id: variation },
  dimensions,
  createdBy: user,
  notes: null,
  research: [researches[research]],
});
const products = [product("federation", "federation", "OSS", 0), product("studio", "studio", "platform", 1)];
const deprecated = {
  sku: "apollo-federation-v1",
  package: "@apollo/federation-v1",
  reason: "Migrate to Federation V2",
  createdBy: user,
};

interface ProductKey {
  readonly id?: string;
  readonly sku?: string;
  readonly package?: string;
  readonly variation?: { readonly id: string };
}

/** By whichever of its keys came. */
function findProduct({ id, sku, package: name, variation }: ProductKey) {
  return (
    products.find((one) => {
      if (id !== undefined) return one.id === id;
      return one.sku === sku && (variation ? one.variation.id === variation.id : one.package === name);
    }) ?? null
  );
}

interface UserReference {
  readonly email: string;
  readonly totalProductsCreated?: number;
  readonly yearsOfEmployment?: number;
}

const open = { scopes: [], access: "own-account:read", optional: true } as const;

const resolvers: Record<CompatibilitySubgraph, Resolvers> = {
  products: {
    Query: {
      product: field(open, (_parent, key: ProductKey) => findProduct(key)),
      deprecatedProduct: field(open, () => deprecated),
    },
    Product: { __resolveReference: field(open, (key: ProductKey) => findProduct(key)) },
    DeprecatedProduct: { __resolveReference: field(open, () => deprecated) },
    ProductResearch: {
      __resolveReference: field(
        open,
        ({ study }: { study: { caseNumber: string } }) =>
          researches.find((one) => one.study.caseNumber === study.caseNumber) ?? null,
      ),
    },
    User: {
      __resolveReference: field(open, (reference: UserReference) => ({ ...reference, name: user.name })),
      averageProductsCreatedPerYear: ({ totalProductsCreated, yearsOfEmployment }: UserReference) => {
        if (totalProductsCreated === undefined || !yearsOfEmployment)
          throw new AppError("invalid_request", "A requirement is missing.");
        return Math.round(totalProductsCreated / yearsOfEmployment);
      },
    },
    Inventory: {
      __resolveReference: field(open, ({ id }: { id: string }) => ({ id, deprecatedProducts: [deprecated] })),
    },
  },
  users: {
    User: {
      // The name is overridden by products, so nobody may see this one.
      __resolveReference: field(open, ({ email }: UserReference) => ({ ...user, email, name: "of users" })),
    },
  },
  inventory: {
    Query: {
      inventory: field(open, (_parent, { id }: { id: string }) => ({
        __typename: "OpenSourceInventory",
        id,
        products,
      })),
    },
    Product: { __resolveReference: field(open, (reference: object) => reference) },
    OpenSourceInventory: {
      __resolveReference: field(open, ({ id }: { id: string }) => ({
        __typename: "OpenSourceInventory",
        id,
        products,
      })),
    },
  },
};

export const typeDefsOf = (name: CompatibilitySubgraph): Promise<string> =>
  readFile(new URL(`./${name}.graphql`, import.meta.url), "utf8");

export async function serveCompatibilitySubgraph(name: CompatibilitySubgraph): Promise<ServedListener> {
  return serveListener(
    createSubgraph({
      typeDefs: await typeDefsOf(name),
      resolvers: resolvers[name],

      log: createLogger({ service: name, instance: "test", level: "error" }),
      clock: systemClock,
    }),
  );
}
