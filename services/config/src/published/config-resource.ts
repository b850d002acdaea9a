import { examples } from "@signalbox/contracts";
import { z } from "zod";

const count = z.int().nonnegative();

/** `/api/v1/config/` (spec, "Configuration resource v1"; CONTRACT §4). */
export const ConfigResource = z
  .object({
    apiVersion: z.literal("v1"),
    baseUrl: z.url(),
    capabilities: z.record(z.string(), z.boolean()).describe("A function is supported when it is here and true."),
    features: z.record(z.string(), z.enum(["enabled", "disabled", "preview", "deprecated"])),
    limits: z.object({
      maxPageSize: count,
      requestTimeoutSeconds: count,
      maxRequestBytes: count,
      maxUploadBytes: count,
      maxImagePixels: count,
      maxImageSide: count,
      maxWebhookBytes: count,
    }),
    defaults: z.object({ pageSize: count, locale: z.string() }),
    supported: z.object({ locales: z.array(z.string()), imageTypes: z.array(z.string()) }),
  })
  .meta({ id: "Config", description: "Server limits and features for clients. Every limit here is the enforced one." })
  .register(examples, {
    example: {
      apiVersion: "v1",
      baseUrl: "https://signalbox.example",
      capabilities: { imageImport: true, imageDirectUpload: true, signedUrls: true, webhooks: true },
      features: { integrations: "enabled" },
      limits: {
        maxPageSize: 100,
        requestTimeoutSeconds: 30,
        maxRequestBytes: 1_048_576,
        maxUploadBytes: 52_428_800,
        maxImagePixels: 100_000_000,
        maxImageSide: 16_384,
        maxWebhookBytes: 1_048_576,
      },
      defaults: { pageSize: 20, locale: "en" },
      supported: { locales: ["en", "de"], imageTypes: ["image/jpeg", "image/png", "image/webp"] },
    },
  });

export type ConfigResource = z.output<typeof ConfigResource>;

/** Groups published values such as `limits.maxPageSize` into the resource: the part before the dot is the member. */
export function configResourceFrom(baseUrl: string, values: Readonly<Record<string, unknown>>): ConfigResource {
  const members: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(values)) {
    const [member = "", key = ""] = name.split(".");
    members[member] = { ...members[member], [key]: value };
  }
  return ConfigResource.parse({ apiVersion: "v1", baseUrl, ...members });
}
