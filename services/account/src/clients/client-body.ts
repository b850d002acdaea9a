import { ServiceClientResource, scopes } from "@signalbox/contracts";
import { z } from "zod";
import { ruledText } from "../accounts/account-body.ts";
import { checkDisplayName } from "../accounts/account-fields.ts";

const name = ruledText(checkDisplayName).meta({ description: "For people.", minLength: 1, maxLength: 100 });
const overlapSecondsMax = 7 * 24 * 3600;
const overlapSecondsDefault = 24 * 3600;

export const NewServiceClient = z.strictObject({
  name,
  scopes: z
    .array(z.enum(scopes))
    .min(1)
    .max(scopes.length)
    .describe("No more than the creator's own, and none of those that only roles and keys bring."),
  expires_at: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .nullable()
    .default(null)
    .describe("When the client ends; null, or absent, for never."),
});

/** PATCH: of a client its name can change, and nothing else. */
export const ServiceClientPatch = z.strictObject({ name }).partial();

export const ClientSecretRotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(overlapSecondsMax)
    .default(overlapSecondsDefault)
    .describe("How long the old secret works beside the new one; 0 ends it at once."),
});

export const IssuedServiceClient = ServiceClientResource.extend({
  client_id: z.string().describe("The id again, by the name that OAuth libraries ask for."),
  client_secret: z.string().describe("The secret. It is shown this once."),
}).meta({ id: "IssuedServiceClient" });
