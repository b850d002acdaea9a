import { readFile } from "node:fs/promises";
import { createLoader, createPerRequest, type Load } from "@signalbox/graphql";
import { buildASTSchema, execute, type FormattedExecutionResult, GraphQLError, parse } from "graphql";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";

const schemaFile = new URL("../../schema.graphql", import.meta.url);

interface Reference {
  readonly __typename: string;
  readonly id: string;
}

interface Owner {
  readonly type: string;
  readonly subgraph: string;
}

/** Types and owning subgraphs by the prefix of an id. */
const owners: Readonly<Record<string, Owner>> = {
  acc: { type: "Account", subgraph: "account" },
  key: { type: "ApiKey", subgraph: "account" },
  img: { type: "Image", subgraph: "images" },
  whe: { type: "WebhookEndpoint", subgraph: "webhook-delivery" },
  whd: { type: "WebhookDelivery", subgraph: "webhook-delivery" },
  src: { type: "WebhookSource", subgraph: "webhook-ingest" },
  rcv: { type: "ReceivedWebhook", subgraph: "webhook-ingest" },
};

/**
 * The subgraph of this process. It has `node(id)`: the prefix of the id determines the type, and the owner decides
 * whether the caller may see it. Its `Subscription` is never fetched: see `../live`.
 */
export async function createLocalSubgraph(senders: ReadonlyMap<string, SubgraphSender>): Promise<SubgraphSender> {
  const schema = buildASTSchema(parse(await readFile(schemaFile, "utf8")), { assumeValidSDL: true });
  const loaders = createPerRequest<Load<Reference>>();

  /** Batches the look-ups of one operation at an owner. */
  function loaderOf(context: OperationContext, { type, subgraph }: Owner): Load<Reference> {
    const send = senders.get(subgraph);
    if (send === undefined) throw new Error(`there is no subgraph ${subgraph}`);
    return loaders(context, type, () =>
      createLoader(
        (ids) => findOwned(send, context, type, ids),
        ({ id }: Reference) => id,
      ),
    );
  }

  return async ({ body, context }) => {
    const { query, variables } = JSON.parse(body);
    const rootValue = {
      async node({ id }: { readonly id: string }): Promise<Reference | null> {
        const owner = owners[id.slice(0, id.indexOf("_"))];
        return owner ? loaderOf(context, owner)(id) : null;
      },
    };
    const document = parse(query, { noLocation: true });
    const { data = null, errors } = await execute({ schema, document, rootValue, variableValues: variables });
    const result = errors ? { data, errors: errors.map((error) => error.toJSON()) } : { data };
    return { result: result as FormattedExecutionResult };
  };
}

/** Returns those of the entities that their owner shows to the caller. */
async function findOwned(
  send: SubgraphSender,
  context: OperationContext,
  type: string,
  ids: readonly string[],
): Promise<Reference[]> {
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on ${type} { id } } }`;
  const variables = { representations: ids.map((id) => ({ __typename: type, id })) };
  const sent = await send({ body: JSON.stringify({ query, variables }), isMutation: false, context });
  if ("loss" in sent) {
    const { code, retryAfterSeconds } = sent.loss;
    const message = "This part of the answer is not available now. Try again.";
    throw new GraphQLError(message, { extensions: { code, ...(retryAfterSeconds && { retryAfterSeconds }) } });
  }
  const [error] = sent.result.errors ?? [];
  if (error) throw new GraphQLError(error.message, { extensions: { ...error.extensions } });
  const found = (sent.result.data?._entities ?? []) as readonly unknown[];
  return ids.filter((_, at) => found[at]).map((id) => ({ __typename: type, id }));
}
