import { type Principal, requireStepUp } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import { z } from "zod";
import { actorOf } from "../audit/actor.ts";
import { ClientSecretRotation, NewServiceClient, ServiceClientPatch } from "../clients/client-body.ts";
import { type ClientRefusal, refusedMaking, refusedRotation } from "../clients/client-refusals.ts";
import type { ServiceClient } from "../clients/service-client.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { invalidInput, parseInput } from "./parse-input.ts";

interface Given {
  readonly input: object;
}

interface IssuedClient {
  readonly client: ServiceClient;
  readonly secret: string;
}

const id = z.string();
const Renaming = ServiceClientPatch.extend({ id });
const Rotation = ClientSecretRotation.extend({ id });
const Revocation = z.strictObject({ id });

/** What an owner does with service clients: the verbs of REST, with the same rules. */
export function clientMutations({ makeClient, changeClient, clients, clock }: Verbs) {
  return {
    Mutation: {
      createServiceClient: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return issuedPayload(async () => {
          const { name, scopes, expires_at: expiresAt } = parseInput(NewServiceClient, input);
          const { accountId, scopes: grantable } = principal;
          const by = actorOf({ ...context, principal });
          const result = await makeClient({ accountId, grantable, name, scopes, expiresAt, by });
          if (result.outcome !== "made") throw errorOf(refusedMaking(result));
          return result;
        });
      },
      renameServiceClient: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = allowed(context, "account:security", "write");
        return mutationPayload("serviceClient", async () => {
          const { id: clientId, name } = parseInput(Renaming, input);
          const result = await changeClient.rename({
            principal,
            clientId,
            name,
            by: actorOf({ ...context, principal }),
          });
          return result.outcome === "not-found" ? missingClient() : result.client;
        });
      },
      rotateServiceClientSecret: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return issuedPayload(async () => {
          const { id: clientId, overlap_seconds: overlapSeconds } = parseInput(Rotation, input);
          const by = actorOf({ ...context, principal });
          const result = await changeClient.rotateSecret({ principal, clientId, overlapSeconds, by });
          if (result.outcome !== "rotated") throw errorOf(refusedRotation(result));
          return result;
        });
      },
      revokeServiceClient: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return mutationPayload("serviceClient", async () => {
          const { id: clientId } = parseInput(Revocation, input);
          const { accountId } = principal;
          await changeClient.revoke({ accountId, clientId, by: actorOf({ ...context, principal }) });
          return (await clients.find(accountId, clientId)) ?? missingClient();
        });
      },
    },
  };

  function steppedUp(context: AccountContext): Principal {
    const principal = allowed(context, "account:security", "write");
    requireStepUp(principal, clock);
    return principal;
  }
}

/** The payload of a mutation that shows a secret. */
async function issuedPayload(issue: () => Promise<IssuedClient>) {
  const { issued, errors } = await mutationPayload("issued", issue);
  return { serviceClient: issued?.client ?? null, clientSecret: issued?.secret ?? null, errors };
}

function errorOf({ code, message, details }: ClientRefusal): AppError {
  return code === "validation_error" ? invalidInput(details) : new AppError(code, message, { details });
}

function missingClient(): never {
  throw new AppError("not_found", "There is no such client.");
}
