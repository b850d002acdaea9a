import { readFile } from "node:fs/promises";
import { mayAccess } from "@signalbox/contracts";
import { createLoader, createPerRequest, type Load } from "@signalbox/http";
import { buildASTSchema, execute, type FormattedExecutionResult, GraphQLError, parse } from "graphql";
import { graphError } from "../documents/graph-error.ts";
import type { AskServices } from "../operating/ask-services.ts";
import { why } from "../why/why.ts";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";

const schemaFile = new URL("../../subgraph.graphql", import.meta.url);

interface Reference {
  readonly __typename: string;
  readonly id: string;
}

/** Types and owning subgraphs by the prefix of an id. */
const owners: Readonly<Record<string, { readonly type: string; readonly subgraph: string }>> = {
  acc: { type: "Account", subgraph: "account" },
  key: { type: "ApiKey", subgraph: "account" },
  img: { type: "Image", subgraph: "images" },
  whe: { type: "WebhookEndpoint", subgraph: "webhook-delivery" },
  whd: { type: "WebhookDelivery", subgraph: "webhook-delivery" },
  src: { type: "WebhookSource", subgraph: "webhook-ingest" },
  rcv: { type: "ReceivedWebhook", subgraph: "webhook-ingest" },
};

/** Each asks every service: more of them in one operation would be a cheap way to keep all of them busy. */
const whysMax = 5;

/**
 * The subgraph of this process. It has `why(id)`, and `node(id)`: the prefix of the id determines the type, and the owner decides
 * whether the caller may see it. Its `Subscription` is never fetched: see `../live`.
 */
export async function createLocalSubgraph(
  senders: ReadonlyMap<string, SubgraphSender>,
  ask: AskServices,
): Promise<SubgraphSender> {
  const schema = buildASTSchema(parse(await readFile(schemaFile, "utf8")), { assumeValidSDL: true });
  const loaders = createPerRequest<Load<Reference>>();
  const whys = new WeakMap<OperationContext, number>();

  async function askWhy(id: string, context: OperationContext) {
    const { principal, requestId, clientAddress, signal } = context;
    const asked = (whys.get(context) ?? 0) + 1;
    whys.set(context, asked);
    if (principal === null) throw graphError("UNAUTHENTICATED", "Send credentials.");
    if (!mayAccess(principal.state, "read"))
      throw graphError("FORBIDDEN", "The state of the account does not permit this.");
    if (asked > whysMax) throw graphError("LIMIT_ROOT_FIELDS", `An operation has at most ${whysMax} fields \`why\`.`);
    const steps = await why(ask, id, { caller: { ...principal, requestId, clientAddress }, signal });
    return steps.map((step) => ({ ...step, verdict: step.verdict.toUpperCase() }));
  }

  /** Batches the look-ups of one operation at an owner. */
  function loaderOf(context: OperationContext, { type, subgraph }: (typeof owners)[string]): Load<Reference> {
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
      why: ({ id }: { readonly id: string }) => askWhy(id, context),
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
    const message = "This part of the response is not available right now. Try again.";
    throw graphError(code, message, retryAfterSeconds ? { retryAfterSeconds } : {});
  }
  const [error] = sent.result.errors ?? [];
  if (error) throw new GraphQLError(error.message, { extensions: { ...error.extensions } });
  const found = (sent.result.data?._entities ?? []) as readonly unknown[];
  return ids.filter((_, at) => found[at]).map((id) => ({ __typename: type, id }));
}
