import { displayName, examples, webhookSchemes } from "@signalbox/contracts";
import { type Preset, type PresetName, presets } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { NewSource } from "./source.ts";
import { mergeSettings, SettingsBody, SettingsPatchBody } from "./source-settings.ts";

const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];
const secret = z.string().min(1).max(1024).describe("What the partner signs with. Write-only.");
const verifyToken = z
  .string()
  .min(8)
  .max(256)
  .regex(/^[\x21-\x7e]+$/)
  .describe("What Meta shows when it asks whether the address is ours. Write-only.");
const eventTypes = z
  .array(z.string().min(1).max(256))
  .min(1)
  .max(100)
  .nullable()
  .describe(
    "The partner's types that are accepted, each a name or a prefix that ends in `*`; null accepts every type.",
  );
const forward = z.boolean().describe("Whether accepted webhooks go on to the account's endpoints.");

export const CreateSourceBody = z
  .strictObject({
    name: displayName,
    preset: z
      .enum(presetNames)
      .describe("A sender whose scheme and settings are known; `settings` beside it go over them.")
      .optional(),
    scheme: z.enum(webhookSchemes).describe("How the partner signs; that of the preset where there is one.").optional(),
    secret,
    verify_token: verifyToken.nullable().default(null),
    event_types: eventTypes.default(null),
    forward: forward.default(true),
    settings: SettingsBody.default({}),
  })
  .superRefine(({ preset, scheme, settings, verify_token }, { addIssue }) => {
    const handshake = settings.handshake ?? (preset && (presets[preset] as Preset).settings.handshake);
    if (handshake === "meta" && verify_token === null) {
      const message = "Meta shows a token when it asks whether the address is ours; give it here too.";
      addIssue({ code: "custom", path: ["verify_token"], message });
    }
    const right = preset && presets[preset].scheme;
    if (preset === undefined && scheme === undefined) {
      addIssue({ code: "custom", path: ["scheme"], message: "A source has a scheme or a preset." });
    } else if (right !== undefined && scheme !== undefined && scheme !== right) {
      addIssue({ code: "custom", path: ["scheme"], message: `The preset ${preset} has the scheme ${right}.` });
    }
  })
  .meta({ id: "CreateWebhookSource", anyOf: [{ required: ["scheme"] }, { required: ["preset"] }] })
  .register(examples, { example: { name: "Shop", scheme: "hmac", secret: "a secret of the shop" } });

export const RotateSecretBody = z
  .strictObject({
    secret,
    overlap_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(86_400)
      .describe("How long the present secret still verifies."),
  })
  .meta({ id: "RotateWebhookSourceSecret" })
  .register(examples, { example: { secret: "the next secret of the shop", overlap_seconds: 3_600 } });

export const RotateUrlBody = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(86_400)
      .describe("How long webhooks that come to the present address are still taken."),
  })
  .meta({ id: "RotateWebhookSourceUrl" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

/** What a new source is made of: the scheme and settings of its preset, with its own settings over them. */
export function newSourceOf(body: z.output<typeof CreateSourceBody>): NewSource {
  const { event_types: eventTypes, verify_token, preset, scheme = "hmac", settings, ...rest } = body;
  const named = { ...rest, eventTypes, verifyToken: verify_token };
  if (preset === undefined) return { ...named, scheme, settings };
  const known = presets[preset];
  return { ...named, scheme: known.scheme, settings: mergeSettings(known.settings, settings) };
}

/** A merge patch: an absent member stays as it is. The scheme is fixed, because a secret belongs to it. */
export const UpdateSourceBody = z
  .strictObject({
    name: displayName,
    secret,
    verify_token: verifyToken.nullable(),
    event_types: eventTypes,
    forward,
    settings: SettingsPatchBody,
    status: z
      .enum(["active", "paused", "stopped"])
      .describe(
        "While paused, the partner is answered 503 and tries again. While stopped, it is answered 202 and nothing is kept: " +
          "for a sender that gives up an address that fails.",
      ),
  })
  .partial()
  .meta({ id: "UpdateWebhookSource" })
  .register(examples, { example: { event_types: ["order.created"], status: "paused" } });
