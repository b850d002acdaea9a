import { jsonIn, numberIn, wordsIn } from "../../parts/read-text.ts";
import type { Endpoint } from "../webhooks.ts";

/** A header or a text of the owner. */
export interface NamedText {
  readonly name: string;
  /** Empty for a secret header that keeps its value. */
  readonly value: string;
  readonly secret: boolean;
}

export const blankText: NamedText = { name: "", value: "", secret: false };

export const emptyInput = {
  url: "",
  description: "",
  eventTypes: "*",
  filter: "",
  format: "envelope",
  ordered: false,
  timeoutSeconds: "",
  maxInFlight: "",
  retrySchedule: "",
  rateLimit: "",
  rateSeconds: "1",
  headers: [] as readonly NamedText[],
  metadata: [] as readonly NamedText[],
  certificate: "",
  certificateKey: "",
  isWithoutCertificate: false,
};

/** The texts of the form of an endpoint, as they are typed. */
export type EndpointInput = Readonly<typeof emptyInput>;

/** Writes an endpoint into the fields of the form. */
export function inputOf({ url, description, event_types, settings }: Endpoint): EndpointInput {
  return {
    url,
    description: description ?? "",
    eventTypes: event_types.join("\n"),
    filter: settings.filter ? JSON.stringify(settings.filter, null, 2) : "",
    format: settings.format,
    ordered: settings.ordered,
    timeoutSeconds: textOf(settings.timeout_seconds),
    maxInFlight: textOf(settings.max_in_flight),
    retrySchedule: settings.retry_schedule_seconds?.join(", ") ?? "",
    rateLimit: textOf(settings.rate?.limit ?? null),
    rateSeconds: textOf(settings.rate?.per_seconds ?? 1),
    headers: settings.headers.map(({ name, value, secret }) => ({ name, value: value ?? "", secret })),
    metadata: Object.entries(settings.metadata).map(([name, value]) => ({ name, value, secret: false })),
    certificate: "",
    certificateKey: "",
    isWithoutCertificate: false,
  };
}

const textOf = (value: number | null): string => (value === null ? "" : String(value));

/** Leaves the typed secrets out of an input, which is kept for the session or shown beside another version. */
export const withoutSecrets = ({ headers, ...input }: EndpointInput): EndpointInput => ({
  ...input,
  certificateKey: "",
  headers: headers.map(({ name, value, secret }) => ({ name, value: secret ? "" : value, secret })),
});

/**
 * Reads the fields of the form. The API judges the values; only what cannot be sent is refused here.
 * @throws Error that names the field
 */
export function bodyOf(input: EndpointInput, before: Pick<Endpoint, "settings"> | null = null) {
  return {
    description: input.description.trim() || null,
    event_types: wordsIn(input.eventTypes),
    settings: {
      filter: input.filter.trim() === "" ? null : (jsonIn(input.filter, "Filter") as Record<string, unknown>),
      format: input.format as Endpoint["settings"]["format"],
      ordered: input.ordered,
      timeout_seconds: numberOf(input.timeoutSeconds, "Timeout"),
      max_in_flight: numberOf(input.maxInFlight, "Concurrency"),
      retry_schedule_seconds:
        input.retrySchedule.trim() === ""
          ? null
          : wordsIn(input.retrySchedule).map((word) => numberOf(word, "Retry schedule") ?? 0),
      rate: rateOf(input),
      headers: named(input.headers).map(({ name, value, secret }) => ({ name, value: value || null, secret })),
      metadata: metadataOf(input.metadata, before?.settings.metadata ?? {}),
      ...certificateOf(input),
    },
  };
}

const named = (rows: readonly NamedText[]): NamedText[] =>
  rows.map((row) => ({ ...row, name: row.name.trim() })).filter(({ name, value }) => name !== "" || value !== "");

function rateOf({ rateLimit, rateSeconds }: EndpointInput) {
  const limit = numberOf(rateLimit, "Rate limit");
  return limit === null ? null : { limit, per_seconds: numberOf(rateSeconds, "Rate period") ?? 1 };
}

/** Texts that were there before and are not any more are removed by null. */
function metadataOf(rows: readonly NamedText[], before: Readonly<Record<string, string>>) {
  const removed = Object.keys(before).map((name) => [name, null] as const);
  return Object.fromEntries([...removed, ...named(rows).map(({ name, value }) => [name, value] as const)]);
}

/** Without a new pair the endpoint keeps the one it has. */
function certificateOf({ certificate, certificateKey: key, isWithoutCertificate }: EndpointInput) {
  if (isWithoutCertificate) return { client_certificate: null };
  return certificate.trim() === "" && key.trim() === "" ? {} : { client_certificate: { certificate, key } };
}

const numberOf = (text: string, field: string): number | null => (text.trim() === "" ? null : numberIn(text, field));
