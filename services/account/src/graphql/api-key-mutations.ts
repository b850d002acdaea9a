import { type Principal, requireStepUp } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import { z } from "zod";
import type { ApiKey } from "../api-keys/api-key.ts";
import { ApiKeyPatch, ApiKeyRotation, NewApiKey } from "../api-keys/api-key-body.ts";
import { type KeyRefusal, refusedIssue, refusedRotation } from "../api-keys/key-refusals.ts";
import { actorOf } from "../audit/actor.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { invalidInput, parseInput } from "./parse-input.ts";

interface Given {
  readonly input: object;
}

interface IssuedKey {
  readonly key: ApiKey;
  readonly text: string;
}

const id = z.string();
const Renaming = ApiKeyPatch.extend({ id });
const Rotation = ApiKeyRotation.extend({ id });
const Revocation = z.strictObject({ id });

/** What an owner does with keys: the verbs of REST, with the same rules. */
export function apiKeyMutations({ issueApiKey, renameApiKey, rotateApiKey, revokeApiKey, apiKeys, clock }: Verbs) {
  return {
    Mutation: {
      createApiKey: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return issuedPayload(async () => {
          const { name, scopes, expires_at: expiresAt } = parseInput(NewApiKey, input);
          const { accountId, scopes: grantable } = principal;
          const by = actorOf({ ...context, principal });
          const result = await issueApiKey({ accountId, grantable, name, scopes, roles: [], expiresAt, by });
          if (result.outcome !== "issued") throw errorOf(refusedIssue(result));
          return result;
        });
      },
      renameApiKey: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = allowed(context, "account:security", "write");
        return mutationPayload("apiKey", async () => {
          const { id: keyId, name } = parseInput(Renaming, input);
          const result = await renameApiKey({ principal, keyId, name, by: actorOf({ ...context, principal }) });
          return result.outcome === "not-found" ? missingKey() : result.key;
        });
      },
      rotateApiKey: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return issuedPayload(async () => {
          const { id: keyId, overlap_seconds: overlapSeconds } = parseInput(Rotation, input);
          const by = actorOf({ ...context, principal });
          const result = await rotateApiKey({ principal, keyId, overlapSeconds, by });
          if (result.outcome !== "rotated") throw errorOf(refusedRotation(result));
          return result;
        });
      },
      revokeApiKey: (_parent: unknown, { input }: Given, context: AccountContext) => {
        const principal = steppedUp(context);
        return mutationPayload("apiKey", async () => {
          const { id: keyId } = parseInput(Revocation, input);
          const { accountId } = principal;
          await revokeApiKey({ accountId, keyId, by: actorOf({ ...context, principal }) });
          return (await apiKeys.find(accountId, keyId)) ?? missingKey();
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

/** The payload of a mutation that shows a key. */
async function issuedPayload(issue: () => Promise<IssuedKey>) {
  const { issued, errors } = await mutationPayload("issued", issue);
  return { apiKey: issued?.key ?? null, key: issued?.text ?? null, errors };
}

function errorOf({ code, message, details }: KeyRefusal): AppError {
  return code === "validation_error" ? invalidInput(details) : new AppError(code, message, { details });
}

function missingKey(): never {
  throw new AppError("not_found", "There is no such key.");
}
