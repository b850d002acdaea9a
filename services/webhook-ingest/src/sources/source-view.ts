import { isDeepStrictEqual } from "node:util";
import { examples, WebhookSourceResource, webhookSourceExample } from "@signalbox/contracts";
import { toWire } from "@signalbox/http";
import { sameContentSecondsOf, schemeDefaults, schemeOf } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { ingestPathOf, type Source, viewSource } from "./source.ts";
import { presetSettingsOf } from "./source-preset.ts";
import { type SourceSettings, settingsOf, shownSettings } from "./source-settings.ts";

function warningsOf({ isSecretShort }: Source) {
  const message =
    "The secret is shorter than 16 bytes and could be guessed. Give the sender and the source a longer one.";
  return isSecretShort ? [{ code: "short_secret" as const, message }] : [];
}

/** A source as its owner reads it, with what follows from its settings. */
export const SourceInFullResource = WebhookSourceResource.extend({
  ingest_url: z.string().describe("The URL to which the partner posts."),
  effective_settings: z
    .record(
      z.string(),
      z.object({
        value: z.unknown().describe("The value of the setting; null for none."),
        from: z
          .enum(["source", "preset", "property", "default"])
          .describe(
            "`source`: its own setting; `preset`: that of its preset, with later corrections; `property`: a property of the service; `default`: that of its scheme.",
          ),
      }),
    )
    .describe("The settings that hold, with where each comes from."),
  warnings: z
    .array(
      z.object({
        code: z.enum(["short_secret"]).describe("A stable name."),
        message: z.string().describe("What is weak, and what to do."),
      }),
    )
    .describe("Weaknesses of the source that its owner has accepted."),
  doc_url: z.string().describe("The page that explains how a sender is connected."),
}).meta({
  id: "WebhookSourceInFull",
  description: "A source with its URL and the settings that hold.",
});
export type SourceInFullResource = z.output<typeof SourceInFullResource>;
/** The values of all settings of its scheme as webhooks are judged by them, each with its origin. */
type EffectiveSettings = SourceInFullResource["effective_settings"];

examples.add(SourceInFullResource, {
  example: {
    ...webhookSourceExample,
    ingest_url: `https://api.example.com${webhookSourceExample.ingest_path}`,
    effective_settings: {
      signature_header: { value: "X-Signature", from: "source" },
      tolerance_seconds: { value: 300, from: "property" },
      time_unit: { value: "s", from: "default" },
    },
    warnings: [],
    doc_url: "https://api.example.com/docs/how-to/connect-a-sender",
  },
});

/** Returns the source as its owner reads it over REST, with URLs at the address of this deployment. */
export const sourceInFull = (service: IngestService, source: Source): SourceInFullResource => ({
  ...viewSource(source),
  ingest_url: ingestUrlOf(service, source),
  effective_settings: toWire(effectiveSettings(service, source)) as EffectiveSettings,
  warnings: warningsOf(source),
  doc_url: docUrlOf(service),
});

/** The same as fields of `WebhookSource` in the graph. */
export const sourceInFullFields = (service: IngestService) => ({
  ingestUrl: (source: Source) => ingestUrlOf(service, source),
  effectiveSettings: (source: Source) => effectiveSettings(service, source),
  warnings: warningsOf,
  docUrl: () => docUrlOf(service),
});

/** Returns the URL that explains a webhook of the source. */
export const verifyUrlOf = ({ configuration }: IngestService, sourceId: string): string =>
  `${configuration.get("http.base-url")}/api/v1/webhooks/sources/${sourceId}/verify`;

const ingestUrlOf = ({ configuration }: IngestService, source: Source): string =>
  `${configuration.get("http.base-url")}${ingestPathOf(source)}`;

const docUrlOf = ({ configuration }: IngestService): string =>
  `${configuration.get("http.base-url")}/docs/how-to/connect-a-sender`;

/** Settings of every scheme where a source sets none. */
const senderDefaults: SourceSettings = {
  acceptShortSecret: false,
  acceptGet: false,
  keepRejectedBodies: false,
  forwardedHeaders: [],
  signatureOver: "wire",
  answer: { status: 202 },
};

/** Returns the settings that hold: its own, those of the service's properties, or those of its scheme. */
function effectiveSettings(service: IngestService, source: Source): EffectiveSettings {
  const { scheme, settings: own } = source;
  const { configuration } = service;
  const fromProperties: SourceSettings = {
    toleranceSeconds: configuration.get("webhook-ingest.tolerance") / 1_000,
    maxBodyBytes: configuration.get("limits.maxWebhookBytes"),
    publicUrl: ingestUrlOf(service, source),
  };
  const { handshake } = schemeOf(scheme, own);
  const defaults: Partial<Record<keyof SourceSettings, unknown>> = {
    ...senderDefaults,
    refuseSameContentSeconds: sameContentSecondsOf(scheme, own),
    handshake,
    ...schemeDefaults(scheme),
  };
  const ofPreset = presetSettingsOf(source.preset);
  const shown = shownSettings(own);
  return Object.fromEntries(
    settingsOf(scheme).map((name) => {
      if (own[name] !== undefined) {
        const from = isDeepStrictEqual(own[name], ofPreset[name]) ? ("preset" as const) : ("source" as const);
        return [name, { value: shown[name], from }];
      }
      if (fromProperties[name] !== undefined) return [name, { value: fromProperties[name], from: "property" as const }];
      return [name, { value: defaults[name] ?? null, from: "default" as const }];
    }),
  );
}
