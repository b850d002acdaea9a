import { mutation, refusalError, type SubgraphContext } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Source } from "./source.ts";
import { CreateSourceBody, newSourceOf, RotateSecretBody, RotateUrlBody, UpdateSourceBody } from "./source-bodies.ts";
import { refusedCreation, tooManyAddresses, tooManySecrets } from "./source-refusals.ts";
import type { SourceRotations } from "./source-rotations.ts";
import type { SourceStore } from "./source-store.ts";
import type { Sources } from "./sources.ts";

export interface SourceMutations {
  readonly sources: Sources;
  readonly sourceRotations: SourceRotations;
  readonly sourceStore: SourceStore;
}

interface Named {
  readonly id: string;
}

const writers = { scopes: ["webhooks:write"] } as const;
const payload = "webhookSource";

/** GraphQL mutations of sources: the operations of REST, with the same rules. */
export function sourceMutations({ sources, sourceRotations, sourceStore }: SourceMutations) {
  /** Finds and locks a source of the caller, and changes it. */
  const changeOwn = <Result>(
    { caller, write }: SubgraphContext<unknown>,
    { id }: Named,
    change: (tx: Tx, source: Source) => Promise<Result>,
  ): Promise<Result> =>
    write({
      find: (tx) => sourceStore.lock(tx, caller.accountId, id),
      change,
      missing: "There is no such source.",
    });

  return {
    createWebhookSource: mutation(
      { ...writers, audit: "webhook_source.create", input: CreateSourceBody, payload },
      async (input, { caller, inTransaction }) => {
        const result = await inTransaction((tx) => sources.create(tx, caller, newSourceOf(input)));
        if (result.outcome !== "created") throw refusalError(refusedCreation(result));
        return result.source;
      },
    ),
    updateWebhookSource: mutation(
      { ...writers, stepUpFor: "another secret", audit: "webhook_source.update", input: UpdateSourceBody, payload },
      ({ event_types: eventTypes, verify_token: verifyToken, ...rest }, context, args: Named) =>
        changeOwn(context, args, (tx, source) =>
          sources.update(tx, context.caller, source, { ...rest, eventTypes, verifyToken }),
        ),
    ),
    rotateWebhookSourceSecret: mutation(
      { ...writers, stepUp: true, audit: "webhook_source.rotate_secret", input: RotateSecretBody, payload },
      async ({ secret, overlap_seconds: overlapSeconds }, context, args: Named) => {
        const result = await changeOwn(context, args, (tx, source) =>
          sourceRotations.rotateSecret(tx, context.caller, source, secret, overlapSeconds),
        );
        if (result.outcome !== "rotated") throw refusalError(tooManySecrets(result));
        return result.source;
      },
    ),
    rotateWebhookSourceUrl: mutation(
      { ...writers, audit: "webhook_source.rotate_url", input: RotateUrlBody, payload },
      async ({ overlap_seconds: overlapSeconds }, context, args: Named) => {
        const result = await changeOwn(context, args, (tx, source) =>
          sourceRotations.rotateAddress(tx, context.caller, source, overlapSeconds),
        );
        if (result.outcome !== "rotated") throw refusalError(tooManyAddresses(result));
        return result.source;
      },
    ),
    deleteWebhookSource: mutation(
      { ...writers, audit: "webhook_source.delete", input: z.strictObject({}), payload: "deletedWebhookSourceId" },
      async (_input, context, args: Named) => {
        await changeOwn(context, args, (tx, source) => sources.delete(tx, context.caller, source));
        return args.id;
      },
    ),
  };
}
