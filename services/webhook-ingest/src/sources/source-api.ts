import {
  displayName,
  examples,
  WebhookSourceResource,
  webhookSchemes,
  webhookSourceExample,
} from "@signalbox/contracts";
import { snakeCase } from "@signalbox/core";
import { textParameter } from "@signalbox/http";
import { type Edges, edgesOf, type Load, list, operation, record, tooMany } from "@signalbox/service";
import { type Preset, type PresetName, presets } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { answerSource, lockedOwnSource, showSource, sourcePath, webhooksRead, webhooksWrite } from "./own-source.ts";
import {
  formerEnds,
  ingestPathOf,
  missingSource,
  type NewSource,
  pathTo,
  type Source,
  type SourceAddress,
} from "./source.ts";
import { secretText, sourceRotations } from "./source-rotations.ts";
import { mergeSettings, SettingsBody, SettingsPatchBody, shownSettings } from "./source-settings.ts";
import { findSource, listSources } from "./source-store.ts";
import { SourceInFullResource, sourceInFull, sourceInFullFields } from "./source-view.ts";
import { createSource, deleteSource, updateSource } from "./sources.ts";

const base = "/api/v1/webhooks/sources";

const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];
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
const sourceFilter = {
  status: WebhookSourceResource.shape.status.optional().describe("Only sources in this state."),
  text: textParameter().optional().describe("A part of the name or of the id, in any case."),
};
const forward = z.boolean().describe("Forwards accepted webhooks to the account's endpoints.");

const CreateSourceBody = z
  .strictObject({
    name: displayName,
    preset: z
      .enum(presetNames, { error: "There is no preset of this name; GET /api/v1/webhooks/presets lists them." })
      .describe("Known sender with its scheme and settings; `settings` override them.")
      .optional(),
    scheme: z.enum(webhookSchemes).describe("Signature scheme of the partner. Default: the preset's.").optional(),
    secret: secretText,
    verify_token: verifyToken.nullable().default(null),
    event_types: eventTypes.default(null),
    forward: forward.default(true),
    settings: SettingsBody.default({}).describe(
      "The settings of the source; those left out take the defaults of its scheme.",
    ),
  })
  .superRefine(({ preset, scheme, settings, verify_token }, { addIssue }) => {
    const refuse = (message: string, ...path: string[]) => addIssue({ code: "custom", path, message });
    const known: Preset | undefined = preset && presets[preset];
    if ((settings.handshake ?? known?.settings.handshake) === "meta" && verify_token === null)
      refuse("Meta sends a token with its verification request; give the same token here.", "verify_token");
    for (const [name, message] of Object.entries(known?.ownerSettings ?? {}))
      if (settings[name as keyof typeof settings] === undefined) refuse(message, "settings", snakeCase(name));
    if (!known && scheme === undefined) refuse("Give a scheme or a preset.", "scheme");
    if (known && scheme !== undefined && scheme !== known.scheme)
      refuse(`The preset ${preset} has the scheme ${known.scheme}.`, "scheme");
  })
  .meta({
    id: "CreateWebhookSource",
    description: "A source has a `scheme`, or a `preset` that brings one.",
    if: { required: ["scheme"] },
    else: { required: ["preset"] },
  })
  .register(examples, { example: { name: "Shop", scheme: "hmac", secret: "a secret of the shop" } });

/** A merge patch: an absent member keeps its value. The scheme is fixed, because the secret belongs to it. */
const UpdateSourceBody = z
  .strictObject({
    name: displayName,
    secret: secretText,
    verify_token: verifyToken.nullable(),
    event_types: eventTypes,
    forward,
    settings: SettingsPatchBody.describe("The settings to change; those left out stay."),
    status: z
      .enum(["active", "paused", "stopped"])
      .describe(
        "A paused source answers 503, so that the partner tries again. A stopped source answers 202 and keeps nothing, " +
          "for a sender that would give up a failing address.",
      ),
  })
  .partial()
  .meta({ id: "UpdateWebhookSource" })
  .register(examples, { example: { event_types: ["order.created"], status: "paused" } });

export function sourceApi(service: IngestService, loadSource: Load<Source>): Edges {
  const ingestPath = ({ address }: SourceAddress) => pathTo(address);
  const fields = {
    WebhookSource: {
      ...sourceInFullFields(service),
      settings: ({ settings }: Source) => shownSettings(settings),
      ingestPath: ingestPathOf,
      overlapsEndAt: ({ secrets }: Source) => formerEnds(secrets),
      formerIngestPaths: ({ addresses }: Source) => addresses.slice(1),
    },
    WebhookSourceAddress: { ingestPath },
    FormerIngestPath: { ingestPath },
  };
  const declared = {
    webhookSources: list({
      summary: "List sources, newest first",
      description: "The sources of the account, without their secrets.",
      auth: webhooksRead,
      limits: service.pageLimits,
      filter: sourceFilter,
      read: (range, { caller, filter }) => listSources(service, caller.accountId, range, filter),
      rest: { get: base, item: SourceInFullResource, view: (source) => sourceInFull(service, source) },
    }),
    webhookSource: record({
      summary: "Read a source",
      description: "Address, scheme, state, its own settings and those that hold, without the secrets.",
      auth: webhooksRead,
      find: ({ caller, params }) => findSource(service, caller.accountId, params.id),
      missing: missingSource,
      rest: { get: sourcePath, resource: SourceInFullResource, answer: (source) => showSource(service, source) },
      graph: { type: "WebhookSource", load: loadSource },
    }),
    ...writes(service),
    ...sourceRotations(service),
  };
  return edgesOf(declared, { exampleIds: { id: webhookSourceExample.id }, fields });
}

function writes(service: IngestService) {
  const of = lockedOwnSource(service);
  return {
    createWebhookSource: operation({
      summary: "Create a source",
      description: "A source has an address for one partner, and the way that the partner signs.",
      auth: webhooksWrite,
      audit: "webhook_source.create",
      input: CreateSourceBody,
      create: (tx, { caller, input }) => createSource(service, tx, caller, newSourceOf(input)),
      refusals: {
        "switched-off": { code: "forbidden", message: "Integrations are switched off." },
        "limit-reached": ({ max }) =>
          tooMany("sources", `The account has ${max} sources; delete one that is not needed.`),
      },
      rest: {
        post: base,
        responses: { 201: SourceInFullResource },
        idempotent: true,
        answer: ({ source }) => {
          const shown = showSource(service, source);
          return { ...shown, status: 201, headers: { location: `${base}/${source.id}` } };
        },
      },
      graph: { payload: { webhookSource: ({ source }) => source } },
    }),
    updateWebhookSource: operation({
      summary: "Update a source",
      description: "Absent members stay. Another secret needs a recent sign-in.",
      auth: { ...webhooksWrite, stepUpFor: "another secret" },
      audit: "webhook_source.update",
      input: UpdateSourceBody,
      of,
      change: (tx, source, { caller, input: { event_types: eventTypes, verify_token: verifyToken, ...rest } }) =>
        updateSource(service, tx, caller, source, { ...rest, eventTypes, verifyToken }),
      rest: { patch: sourcePath, mergePatch: true, ...answerSource(service) },
      graph: { payload: "webhookSource" },
    }),
    deleteWebhookSource: operation({
      summary: "Delete a source with what it received",
      description: "Its address answers 404 from then on.",
      auth: webhooksWrite,
      audit: "webhook_source.delete",
      of,
      change: (tx, source, { caller }) => deleteSource(service, tx, caller, source),
      rest: { delete: sourcePath, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: { deletedWebhookSourceId: (_, { params }) => params.id }, type: "DeleteWebhookSourcePayload" },
    }),
  };
}

/** Converts the body of a new source: the scheme and settings of its preset, with its own settings over them. */
function newSourceOf(body: z.output<typeof CreateSourceBody>): NewSource {
  const { event_types: eventTypes, verify_token, preset, scheme = "hmac", settings, ...rest } = body;
  const named = { ...rest, eventTypes, verifyToken: verify_token };
  if (preset === undefined) return { ...named, scheme, settings, preset: null, presetVersion: null };
  const { scheme: own, documentedOn: presetVersion, settings: given } = presets[preset];
  return { ...named, scheme: own, settings: mergeSettings(given, settings), preset, presetVersion };
}
