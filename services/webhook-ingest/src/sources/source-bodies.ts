import { displayName, examples, overlapSeconds, webhookSchemes } from "@signalbox/contracts";
import { type Preset, type PresetName, presets } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { NewSource } from "./source.ts";
import { mergeSettings, SettingsBody, SettingsPatchBody } from "./source-settings.ts";

const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];
const secret = z.string().min(1).max(1024).describe("Secret that the partner signs with. Write-only.");
const verifyToken = z
  .string()
  .min(8)
  .max(256)
  .regex(/^[\x21-\x7e]+$/)
  .describe("Token that Meta sends with its verification request. Write-only.");
const eventTypes = z
  .array(z.string().min(1).max(256))
  .min(1)
  .max(100)
  .nullable()
  .describe("Accepted types of the partner, each a name or a prefix that ends in `*`; null accepts every type.");
const forward = z.boolean().describe("Forwards accepted webhooks to the account's endpoints.");

export const CreateSourceBody = z
  .strictObject({
    name: displayName,
    preset: z
      .enum(presetNames)
      .describe("Known sender with its scheme and settings; `settings` override them.")
      .optional(),
    scheme: z.enum(webhookSchemes).describe("Signature scheme of the partner. Default: the preset's.").optional(),
    secret,
    verify_token: verifyToken.nullable().default(null),
    event_types: eventTypes.default(null),
    forward: forward.default(true),
    settings: SettingsBody.default({}),
  })
  .superRefine(({ preset, scheme, settings, verify_token }, { addIssue }) => {
    const handshake = settings.handshake ?? (preset && (presets[preset] as Preset).settings.handshake);
    if (handshake === "meta" && verify_token === null) {
      const message = "Meta sends a token with its verification request; give the same token here.";
      addIssue({ code: "custom", path: ["verify_token"], message });
    }
    const right = preset && presets[preset].scheme;
    if (preset === undefined && scheme === undefined) {
      addIssue({ code: "custom", path: ["scheme"], message: "Give a scheme or a preset." });
    } else if (right !== undefined && scheme !== undefined && scheme !== right) {
      addIssue({ code: "custom", path: ["scheme"], message: `The preset ${preset} has the scheme ${right}.` });
    }
  })
  .meta({ id: "CreateWebhookSource", anyOf: [{ required: ["scheme"] }, { required: ["preset"] }] })
  .register(examples, { example: { name: "Shop", scheme: "hmac", secret: "a secret of the shop" } });

export const RotateSecretBody = z
  .strictObject({
    secret,
    overlap_seconds: overlapSeconds("the present secret still verifies").default(86_400),
  })
  .meta({ id: "RotateWebhookSourceSecret" })
  .register(examples, { example: { secret: "the next secret of the shop", overlap_seconds: 3_600 } });

export const RotateUrlBody = z
  .strictObject({
    overlap_seconds: overlapSeconds("the present address is still accepted", 86_400).default(86_400),
  })
  .meta({ id: "RotateWebhookSourceUrl" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

/** Converts the body of a new source: the scheme and settings of its preset, with its own settings over them. */
export function newSourceOf(body: z.output<typeof CreateSourceBody>): NewSource {
  const { event_types: eventTypes, verify_token, preset, scheme = "hmac", settings, ...rest } = body;
  const named = { ...rest, eventTypes, verifyToken: verify_token };
  if (preset === undefined) return { ...named, scheme, settings };
  const known = presets[preset];
  return { ...named, scheme: known.scheme, settings: mergeSettings(known.settings, settings) };
}

/** A merge patch: an absent member keeps its value. The scheme is fixed, because the secret belongs to it. */
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
        "A paused source answers 503, so that the partner tries again. A stopped source answers 202 and keeps nothing, ~" +
          "for a sender that would give up a failing address.",
      ),
  })
  .partial()
  .meta({ id: "UpdateWebhookSource" })
  .register(examples, { example: { event_types: ["order.created"], status: "paused" } });
