import { examples, readableSenders, viewOf, webhookSchemes } from "@signalbox/contracts";
import { seconds, snakeCase } from "@signalbox/core";
import { ok } from "@signalbox/http";
import { type Edges, edgesOf, list, record } from "@signalbox/service";
import {
  type DeliveryIdPlace,
  describeRepetitions,
  identityPlaces,
  type KnownPreset,
  type Preset,
  type PresetName,
  presets,
  schemeOf,
} from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { webhooksRead } from "./own-source.ts";
import { viewSourceSettings } from "./source-settings.ts";

const place = z
  .object({
    header: z.string().nullable().describe("The header with the value; null for none."),
    pointer: z.string().nullable().describe("The JSON Pointer of the value in the body; null for none."),
    signed: z.boolean().describe("True when the sender's signature covers it."),
  })
  .describe("The place of the value. Without header and pointer the id is made from the content.");

const ListedPreset = z
  .object({
    name: z.string().describe("The name for `preset` of a new source."),
    title: z.string().describe("The sender's name."),
    scheme: z.enum(webhookSchemes).describe("The way that the sender signs."),
    secret: z.string().describe("Where the owner finds the secret."),
    documentation_url: z.string().describe("The sender's page about its signatures."),
    documented_on: z.string().describe("Date of the documentation that the preset follows, which is its version."),
  })
  .meta({ id: "WebhookPreset" });

const PresetInFull = ListedPreset.extend({
  settings: z.record(z.string(), z.unknown()).describe("The settings that the preset gives a source."),
  owner_settings: z
    .array(
      z.object({
        name: z.string().describe("The name of the setting."),
        description: z.string().describe("What it is, and where the owner finds it."),
      }),
    )
    .describe("Settings that the owner gives, since the preset cannot know them."),
  delivery_id: place,
  event_type: place,
  steps: z.array(z.string()).describe("Steps at the sender, once the source exists."),
  notes: z.array(z.string()).describe("Known traps and other notes."),
  retries: z.string().describe("When the sender sends a failed webhook again."),
  repetitions: z.string().describe("Which of its webhooks count once."),
  read_key: z
    .object({
      sender: z.enum(readableSenders).describe("The `sender` of the read key."),
      from: z.string().describe("Where the owner makes the key, and what it has to permit."),
      keeps: z.string().describe("How long the sender lists what it sent."),
    })
    .nullable()
    .describe("How missed webhooks are recovered from the sender's own list; null for a sender without one."),
  vector: z
    .object({
      made: z
        .enum(["library", "published", "computed"])
        .describe("`library`: of the sender's own library; `published`: its example; `computed`: by its rule."),
      from: z.string().describe("The origin of the request."),
      secret: z.string().describe("The secret of the request, which nobody uses."),
      url: z.string().nullable().describe("The URL that it was posted to, if that is signed."),
      headers: z.record(z.string(), z.string()).describe("Its headers."),
      body: z.string().describe("Its body."),
      signed_at: z.string().describe("The time of its signature."),
    })
    .describe("A request that verifies."),
}).meta({ id: "WebhookPresetInFull", description: "A known sender: its scheme, and how to connect it." });

/** In the order of their names, which the cursors of the list hold. */
const all = Object.entries(presets)
  .map(([name, preset]) => named(name, preset))
  .toSorted((one, other) => (one.name < other.name ? -1 : 1));
/** A cursor needs a time, and presets have none. */
const listedAt = new Date(0);

export function presetApi({ pageLimits }: IngestService): Edges {
  return edgesOf(
    {
      webhookPresets: list({
        summary: "List the senders that have a preset, by name",
        description: "A new source takes the name as its `preset`.",
        auth: webhooksRead,
        limits: pageLimits,
        read: async ({ after, limit }) => all.filter(({ name }) => name > (after?.id ?? "")).slice(0, limit),
        position: ({ name }) => ({ at: listedAt, id: name }),
        rest: { get: "/api/v1/webhooks/presets", item: ListedPreset, view: viewListed },
      }),
      webhookPreset: record({
        summary: "Read how a sender signs and what to enter there",
        description: "With a request of the sender that verifies.",
        auth: webhooksRead,
        find: async ({ params }) => all.find(({ name }) => name === params.name) ?? null,
        missing: "There is no preset of this name.",
        rest: {
          get: "/api/v1/webhooks/presets/:name",
          resource: PresetInFull,
          answer: (preset) => ok(viewInFull(preset)),
        },
      }),
    },
    {
      exampleIds: { name: "stripe" },
      fields: { WebhookPresetVector: { signedAt: ({ atSeconds }: Preset["vector"]) => timeOf(atSeconds) } },
    },
  );
}

function named(name: string, { documentation, secretFrom, ownerSettings = {}, readKey, ...preset }: KnownPreset) {
  const { scheme, settings } = preset;
  const { covers } = schemeOf(scheme, settings);
  const { deliveryId, eventType } = identityPlaces(scheme, settings);
  const at = (found: DeliveryIdPlace) => ({
    header: typeof found === "object" && "header" in found ? found.header : null,
    pointer: typeof found === "object" && "pointer" in found ? found.pointer : null,
    signed: found !== "digest" && covers(found),
  });
  return {
    ...preset,
    name,
    documentationUrl: documentation,
    secret: secretFrom,
    ownerSettings: Object.entries(ownerSettings).map(([setting, description]) => ({
      name: snakeCase(setting),
      description,
    })),
    readKey: readKey ?? null,
    repetitions: describeRepetitions(scheme, settings),
    deliveryId: at(settings.deliveryIdFrom ?? deliveryId),
    eventType: at([settings.eventTypeFrom ?? eventType].flat()[0] ?? eventType),
  };
}

type NamedPreset = (typeof all)[number];

const viewListed = viewOf(ListedPreset, (_: NamedPreset) => ({}));
const viewInFull = viewOf(PresetInFull, ({ settings, vector }: NamedPreset) => ({
  settings: viewSourceSettings(settings),
  vector: viewVector(vector),
}));
const viewVector = viewOf(PresetInFull.shape.vector, ({ url, atSeconds }: Preset["vector"]) => ({
  url: url ?? null,
  signed_at: timeOf(atSeconds).toISOString(),
}));

const timeOf = (atSeconds: number): Date => new Date(seconds(atSeconds));

const { stripe } = Object.fromEntries(all.map((preset) => [preset.name, preset])) as Record<PresetName, NamedPreset>;
examples.add(ListedPreset, { example: viewListed(stripe) });
examples.add(PresetInFull, { example: viewInFull(stripe) });
