import {
  ApiKeyResource,
  apiKeyExample,
  displayName,
  examples,
  overlapSeconds,
  ServiceClientResource,
  scopes,
  serviceClientExample,
} from "@signalbox/contracts";
import { booleanParameter } from "@signalbox/http";
import { z } from "zod";

const name = displayName.meta({ examples: ["deploy"] });

const newCredential = (noun: string, scopesMeaning: string) =>
  z.strictObject({
    name,
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .meta({ description: scopesMeaning, examples: [apiKeyExample.scopes] }),
    expires_at: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .nullable()
      .default(null)
      .describe(`End of the ${noun}; null, or absent, for none.`),
  });

const rotation = (noun: string) =>
  z.strictObject({
    overlap_seconds: overlapSeconds(`the old ${noun} works beside the new one`).default(86_400),
  });

export const NewApiKey = newCredential("key", "A subset of the creator's own.");
export const NewServiceClient = newCredential(
  "client",
  "A subset of the creator's own, without those that only roles and keys bring.",
);
export const ApiKeyRotation = rotation("key");
export const ClientSecretRotation = rotation("secret");

/** PATCH: only the name of a credential can change. */
export const CredentialPatch = z.strictObject({ name }).partial();

export const revocation = {
  revoke_created: booleanParameter()
    .default(false)
    .describe("True to revoke also the credentials that it created, directly or through others."),
};

/** The answer to a revocation. */
export const Revocation = z
  .object({
    id: z.string(),
    created_live: z.int().min(1).describe("Number of live keys and clients that it created."),
  })
  .meta({ id: "Revocation" })
  .register(examples, { example: { id: apiKeyExample.id, created_live: 2 } });

export const IssuedApiKey = ApiKeyResource.extend({
  key: z.string().describe("The key itself, shown only once."),
})
  .meta({ id: "IssuedApiKey" })
  .register(examples, {
    example: { ...apiKeyExample, hint: "sbx_live_0Sig", key: "sbx_live_0Signalbox0Example0Key000000002VAzzd" },
  });

export const IssuedServiceClient = ServiceClientResource.extend({
  client_id: z.string().describe("The id under the name that OAuth libraries expect."),
  client_secret: z.string().describe("The secret, shown only once."),
})
  .meta({ id: "IssuedServiceClient" })
  .register(examples, {
    example: {
      ...serviceClientExample,
      client_id: serviceClientExample.id,
      client_secret: "sbx_client_0Signalbox0Example0Secret00000000",
    },
  });
