import { examples, WebhookSourceResource, webhookSourceExample } from "@signalbox/contracts";
import { snakeCase } from "@signalbox/core";
import { schemeDefaults, schemeOf } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { ingestPathOf, refuseSameContentSeconds, type Source, viewSource } from "./source.ts";
import { type SourceSettings, settingsOf, viewSetting } from "./source-settings.ts";

/** The place that the value of a setting comes from. */
const origins = ["source", "property", "default"] as const;

const warningCodes = ["short_secret"] as const;

/** Lists the weaknesses that the owner of a source has accepted. */
function warningsOf({ isSecretShort }: Source) {
  const message =
    "The secret is shorter than 16 bytes and could be guessed. Give the sender and the source a longer one.";
  return isSecretShort ? [{ code: "short_secret" as const, message }] : [];
}

/** The values of all settings of its scheme as webhooks are judged by them, each with its origin. */
export type EffectiveSettings = Readonly<
  Record<string, { readonly value: unknown; readonly from: (typeof origins)[number] }>
>;

/** A source as its owner reads it, with what follows from its settings. */
export const SourceInFullResource = WebhookSourceResource.extend({
  ingest_url: z.string().describe("The URL to which the partner posts."),
  effective_settings: z
    .record(
      z.string(),
      z.object({
        value: z.unknown().describe("The value of the setting; null for none."),
        from: z
          .enum(origins)
          .describe("`source`: its own setting; `property`: a property of the service; `default`: that of its scheme."),
      }),
    )
    .describe("The settings that hold, with where each comes from."),
  warnings: z
    .array(
      z.object({
        code: z.enum(warningCodes).describe("A stable name."),
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
  effective_settings: Object.fromEntries(
    Object.entries(effectiveSettings(service, source)).map(([name, { value, from }]) => [
      snakeCase(name),
      { value: viewSetting(value), from },
    ]),
  ),
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
  keepRejectedBodies: false,
  forwardedHeaders: [],
  refuseSameContentSeconds,
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
    handshake,
    ...schemeDefaults(scheme),
  };
  return Object.fromEntries(
    settingsOf(scheme).map((name) => {
      if (own[name] !== undefined) return [name, { value: own[name], from: "source" as const }];
      if (fromProperties[name] !== undefined) return [name, { value: fromProperties[name], from: "property" as const }];
      return [name, { value: defaults[name] ?? null, from: "default" as const }];
    }),
  );
}
