import { ApiKeyResource, scopes } from "@signalbox/contracts";
import { z } from "zod";
import { ruledText } from "../accounts/account-body.ts";
import { checkDisplayName } from "../accounts/account-fields.ts";

const name = ruledText(checkDisplayName).meta({ description: "For people.", minLength: 1, maxLength: 100 });
const overlapSecondsMax = 7 * 24 * 3600;
const overlapSecondsDefault = 24 * 3600;

export const NewApiKey = z.strictObject({
  name,
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).describe("No more than the creator's own."),
  expires_at: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .nullable()
    .default(null)
    .describe("When the key ends; null, or absent, for never."),
});

/** PATCH: of a key its name can change, and nothing else. */
export const ApiKeyPatch = z.strictObject({ name }).partial();

export const ApiKeyRotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(overlapSecondsMax)
    .default(overlapSecondsDefault)
    .describe("How long the old key keeps working; 0 ends it at once."),
});

export const IssuedApiKey = ApiKeyResource.extend({
  key: z.string().describe("The key itself. It is shown this once."),
}).meta({ id: "IssuedApiKey" });
