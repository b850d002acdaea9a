import { hash } from "node:crypto";
import type { Properties } from "@signalbox/config-service/properties";
import { examples, publishedProperties } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { strongEtag } from "@signalbox/http";
import { type Configuration, checkValue, type PropertyDeclaration } from "@signalbox/runtime";
import { z } from "zod";
import type { AppliedReports } from "./applied-reports.ts";

const count = z.int().nonnegative();

/** `/api/v1/config/` (spec, "Configuration resource v1"; CONTRACT §4). */
export const ConfigResource = z
  .object({
    apiVersion: z.literal("v1").describe("The version of this document."),
    baseUrl: z.url().describe("The absolute URL of the API."),
    capabilities: z.record(z.string(), z.boolean()).describe("A capability is supported if it is listed and true."),
    features: z
      .record(z.string(), z.enum(["enabled", "disabled", "preview", "deprecated"]))
      .describe("The stage of each feature, by name."),
    limits: z
      .object({
        maxPageSize: count.describe("The largest number of items on a page."),
        requestTimeoutSeconds: count.describe("The time limit of a request, in seconds."),
        maxRequestBytes: count.describe("The largest JSON body, in bytes."),
        maxUploadBytes: count.describe("The largest image file, in bytes."),
        maxImagePixels: count.describe("The largest number of pixels of an image."),
        maxImageSide: count.describe("The largest width and height of an image, in pixels."),
        maxWebhookBytes: count.describe("The largest body of a webhook, in bytes."),
      })
      .describe("The limits that are enforced."),
    defaults: z
      .object({
        pageSize: count.describe("The number of items on a page without `limit`."),
        locale: z.string().describe("The default locale, a BCP 47 tag."),
      })
      .describe("The values that apply when a request leaves them out."),
    supported: z
      .object({
        locales: z.array(z.string()).describe("The supported locales, BCP 47 tags."),
        imageTypes: z.array(z.string()).describe("The media types of images that can be uploaded."),
      })
      .describe("The values that this deployment supports."),
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

type ConfigResource = z.output<typeof ConfigResource>;

/** The current configuration resource, built once per change so that a request, and above all a 304, is cheap. */
interface Publication {
  readonly resource: ConfigResource;
  readonly etag: string;
  /** Names with different values among the instances: the strictest is shown. */
  readonly disagreements: readonly string[];
  readonly changedAt: Date;
}

/** The published configuration, current at each request. */
export class PublishedConfiguration {
  readonly #configuration: Configuration<Properties>;
  readonly #reports: AppliedReports;
  readonly #clock: Clock;
  #current: Publication;
  #nextGoneAtMs: number;
  /** Time of the first report that `#current` does not contain. */
  #staleSince: Date | null = null;

  constructor(configuration: Configuration<Properties>, reports: AppliedReports, clock: Clock) {
    this.#configuration = configuration;
    this.#reports = reports;
    this.#clock = clock;
    this.#current = this.#make(clock.now());
    this.#nextGoneAtMs = reports.nextGoneAtMs();
    // Evaluated at the next request: at a start the reports of all instances arrive together, and each evaluation reads
    // all of them.
    const markStale = () => {
      this.#staleSince ??= clock.now();
    };
    reports.onChange(markStale);
    for (const name of publishedNames) configuration.onChange(name, markStale);
  }

  current(): Publication {
    // No message announces a stopped instance: its report only grows old. A repeated report postpones that.
    if (this.#staleSince !== null || this.#clock.nowMs() > this.#nextGoneAtMs)
      this.#refresh(this.#staleSince ?? this.#clock.now());
    return this.#current;
  }

  #refresh(changedAt: Date): void {
    const next = this.#make(changedAt);
    this.#current = next.etag === this.#current.etag ? { ...next, changedAt: this.#current.changedAt } : next;
    this.#nextGoneAtMs = this.#reports.nextGoneAtMs();
    this.#staleSince = null;
  }

  #make(changedAt: Date): Publication {
    const configuration = this.#configuration;
    const own = valuesOf(configuration);
    const others = this.#reports.alive().map(({ report }) => report.published as PublishedValues);
    const resource = configResourceFrom(configuration.get("http.base-url"), strictest(own, others));
    const content = hash("sha256", JSON.stringify(resource));
    // The content is part of it besides the revision, because instances apply one revision at different times.
    const etag = strongEtag(`${configuration.revision ?? 0}.${content}`, "config");
    return { resource, etag, disagreements: disagreements(own, others), changedAt };
  }
}

function valuesOf(configuration: Configuration<Properties>): PublishedValues {
  return Object.fromEntries(publishedNames.map((name) => [name, configuration.get(name)]));
}

/** Groups published values such as `limits.maxPageSize` into the resource: the part before the dot is the member. */
function configResourceFrom(baseUrl: string, values: Readonly<Record<string, unknown>>): ConfigResource {
  const members: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(values)) {
    const [member = "", key = ""] = name.split(".");
    members[member] = { ...members[member], [key]: value };
  }
  return ConfigResource.parse({ apiVersion: "v1", baseUrl, ...members });
}

type PublishedName = keyof typeof publishedProperties;
const publishedNames = Object.keys(publishedProperties) as PublishedName[];
type Value = string | number | boolean | readonly string[];

/** The published properties of an instance by name. */
type PublishedValues = Readonly<Partial<Record<string, unknown>>>;

/**
 * Computes the values that clients may rely on when instances disagree, as they do while a change rolls out: the
 * smallest limit, a capability only when every instance has it, a feature only in the state that all agree on, and the
 * common items of every list. `own` decides alone what no other instance reports.
 */
export function strictest(own: PublishedValues, reports: readonly PublishedValues[]): Record<PublishedName, Value> {
  const each = ofEach((name) => {
    const values = [own, ...reports].map((report) => report[name]).filter((value) => isPublishable(name, value));
    return strictestOf(name, values as Value[]);
  });
  return ofEach((name) => withinRules(name, each));
}

const ofEach = (compute: (name: PublishedName) => Value) =>
  Object.fromEntries(publishedNames.map((name) => [name, compute(name)])) as Record<PublishedName, Value>;

/** Instances of other versions may run with a value that this one cannot show; more than it serves is no fault. */
function isPublishable(name: PublishedName, value: unknown): boolean {
  const { fixed: _, ...declaration } = publishedProperties[name] as PropertyDeclaration;
  return checkValue(declaration as PropertyDeclaration, value).ok;
}

/** Enforces the rules between properties, which the strictest of each may break although every instance keeps them. */
function withinRules(name: PublishedName, values: Readonly<Record<string, Value>>): Value {
  const { atMost, oneOf } = publishedProperties[name] as { readonly atMost?: string; readonly oneOf?: string };
  const value = values[name] as Value;
  if (atMost !== undefined) return Math.min(value as number, values[atMost] as number);
  const items = oneOf === undefined ? [] : (values[oneOf] as readonly string[]);
  return items.length === 0 || items.includes(value as string) ? value : (items[0] as string);
}

/** Lists the published names with different values among the instances. */
export function disagreements(own: PublishedValues, reports: readonly PublishedValues[]): string[] {
  return publishedNames.filter((name) => {
    const texts = [own, ...reports].map((report) => JSON.stringify(report[name])).filter((text) => text !== undefined);
    return new Set(texts).size > 1;
  });
}

function strictestOf(name: PublishedName, values: readonly Value[]): Value {
  const [first] = values;
  if (first === undefined) return publishedProperties[name].default;
  if (values.every((value) => JSON.stringify(value) === JSON.stringify(first))) return first;
  if (typeof first === "number") return Math.min(...(values as number[]));
  if (typeof first === "boolean") return values.every((value) => value === true);
  if (Array.isArray(first)) {
    const common = first.filter((item) => values.every((value) => (value as string[]).includes(item)));
    return common.length > 0 ? common : first;
  }
  return name.startsWith("features.") ? "disabled" : first;
}
