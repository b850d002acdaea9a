import { createPrivateKey, X509Certificate } from "node:crypto";
import { WebhookEndpointResource } from "@signalbox/contracts";
import { AppError, hours, minutes, seconds } from "@signalbox/core";
import { z } from "zod";
import { compileFilter } from "./event-filter.ts";
import { impossiblePart } from "./event-filter-faults.ts";

export type EndpointSettings = WebhookEndpointResource["settings"];

/** Settings as an owner writes them. Null selects the service's default; secrets are in the clear. */
export type GivenSettings = z.output<typeof SettingsBody>;
type GivenHeader = z.output<typeof header>;
export type CertificatePair = z.output<typeof certificatePair>;
type ShownCertificate = NonNullable<EndpointSettings["client_certificate"]>;

/** Default settings. They also fill in the settings that a stored row is too old to have. */
export const defaultSettings: EndpointSettings = {
  retry_schedule_seconds: null,
  timeout_seconds: null,
  max_in_flight: null,
  rate: null,
  ordered: false,
  order_hold_seconds: null,
  filter: null,
  headers: [],
  metadata: {},
  signatures: [],
  client_certificate: null,
  api_version: null,
  format: "envelope",
};

/** Delays before each attempt, the first included (CONTRACT §6; the example of Standard Webhooks): 75 hours in all. */
export const defaultScheduleMs: readonly number[] = [
  0,
  seconds(5),
  minutes(5),
  minutes(30),
  hours(2),
  hours(5),
  hours(10),
  hours(14),
  hours(20),
  hours(24),
];

/** Default time for which a failed delivery blocks the later ones of its key. */
export const holdMsDefault = seconds(3_600);

/** Messages in the hands of one consumer, unless its endpoint sets `max_in_flight`. */
export const heldMaxDefault = 1_000;

/** Names under which the sealed parts of the settings are stored. */
export const certificateName = "client_certificate";
export const headerName = (name: string): string => `header:${name.toLowerCase()}`;

/** Settings after a change, and the sealed texts to save: null removes one. */
export interface SettledSettings {
  readonly settings: EndpointSettings;
  readonly credentials: ReadonlyMap<string, string | null>;
}

/** Merges settings into the current ones (RFC 7396). @throws AppError `validation_error` for one that cannot be used */
export function settle(current: EndpointSettings, given: GivenSettings, at: Date): SettledSettings {
  const { headers, metadata, client_certificate: pair, format, ...others } = given;
  const plain = { ...others, format: format === "standard" ? "envelope" : format };
  const credentials = new Map<string, string | null>();
  const values = Object.entries(plain).filter(([, value]) => value !== undefined);
  const settings = {
    ...current,
    ...Object.fromEntries(
      values.map(([name, value]) => [name, value ?? defaultSettings[name as keyof EndpointSettings]]),
    ),
    headers: headers === undefined ? current.headers : settleHeaders(current.headers, headers ?? [], credentials),
    metadata: metadata === undefined ? current.metadata : settleMetadata(current.metadata, metadata ?? {}),
  };
  if (pair === undefined) return { settings, credentials };
  return { settings: { ...settings, client_certificate: settleCertificate(pair, at, credentials) }, credentials };
}

function settleHeaders(
  current: EndpointSettings["headers"],
  given: readonly GivenHeader[],
  credentials: Map<string, string | null>,
): EndpointSettings["headers"] {
  const sealed = new Set(current.filter(({ secret }) => secret).map(({ name }) => headerName(name)));
  for (const name of sealed) credentials.set(name, null);
  return given.map(({ name, value, secret }, index) => {
    const key = headerName(name);
    if (!secret && value !== null) return { name, value, secret };
    if (value !== null) credentials.set(key, value);
    else if (secret && sealed.has(key)) credentials.delete(key);
    else throw refusedSetting(`settings.headers[${index}].value`, "The header has no value yet.");
    return { name, value: null, secret };
  });
}

function settleMetadata(current: EndpointSettings["metadata"], given: Readonly<Record<string, string | null>>) {
  const merged = Object.entries({ ...current, ...given }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  if (merged.length > metadataMax)
    throw refusedSetting("settings.metadata", `At most ${metadataMax} members are allowed.`);
  return Object.fromEntries(merged);
}

function settleCertificate(pair: CertificatePair | null, at: Date, credentials: Map<string, string | null>) {
  if (pair === null) {
    credentials.set(certificateName, null);
    return null;
  }
  const shown = readCertificate(pair, at);
  if (typeof shown === "string") throw refusedSetting("settings.client_certificate", shown);
  credentials.set(certificateName, JSON.stringify(pair));
  return shown;
}

/** Checks a pair and returns its public part, or a text that says what is wrong. */
function readCertificate({ certificate, key }: CertificatePair, at: Date): ShownCertificate | string {
  let read: X509Certificate;
  try {
    read = new X509Certificate(certificate);
  } catch {
    return "The certificate cannot be read: it must be PEM.";
  }
  try {
    if (!read.checkPrivateKey(createPrivateKey(key))) return "The key does not belong to the certificate.";
  } catch {
    return "The key cannot be read: it must be PEM without a passphrase.";
  }
  if (read.validToDate <= at) return "The certificate has expired.";
  return {
    subject: read.subject.replaceAll("\n", ", "),
    fingerprint: read.fingerprint256.replaceAll(":", "").toLowerCase(),
    expires_at: read.validToDate.toISOString(),
  };
}

function refusedSetting(field: string, message: string): AppError {
  const details = [{ field, code: "invalid" as const, message }];
  return new AppError("validation_error", "A setting is not valid.", { details });
}

const metadataMax = 20;

/** Headers that belong to the connection, the body, HTTP itself or our signatures. An endpoint cannot set them. */
export const ownHeaders =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|date|content-.*|accept-encoding|webhook-.*|svix-.*|x-(event-type|delivery-id|replay-id|sequence|timestamp|signature.*|hub-signature.*)|stripe-signature)$/;

const header = z.strictObject({
  name: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
    .refine((name) => !ownHeaders.test(name.toLowerCase()), { error: "This header cannot be set by an endpoint." })
    .describe("The name of the header."),
  // Visible characters of ASCII, and spaces between them (RFC 9110 §5.5).
  value: z
    .string()
    .max(2_048)
    .regex(/^[!-~]([\t -~]*[!-~])?$/)
    .nullable()
    .default(null)
    .describe("The value of the header; null keeps a secret value unchanged."),
  secret: z.boolean().default(false).describe("True hides the value in every answer."),
});

const headers = z
  .array(header)
  .max(10)
  .refine((given) => new Set(given.map(({ name }) => name.toLowerCase())).size === given.length, {
    error: "Duplicate header.",
  })
  .describe("Replaced as a whole. A `secret` header sent without a value keeps its stored value.");

const filter = z
  .record(z.string(), z.unknown())
  .superRefine((given, context) => {
    const compiled = compileFilter(given);
    const problem = typeof compiled === "function" ? impossiblePart(given) : compiled;
    if (problem) context.addIssue({ code: "custom", message: problem.message, path: [...problem.path] });
  })
  .meta({ examples: [{ status: { eq: "ready" } }] });

const pem = z.string().min(1).max(16_384);
const certificatePair = z.strictObject({
  certificate: pem.describe("The certificate with its chain, PEM."),
  key: pem.describe("The private key, PEM."),
});

const shown = WebhookEndpointResource.shape.settings.shape;
const whole = (min: number, max: number) => z.int().min(min).max(max);

const members = {
  retry_schedule_seconds: z
    .array(whole(0, 86_400))
    .min(1)
    .max(20)
    .nullable()
    .describe(
      "The delay before each attempt, in seconds, starting with the first attempt; null for the default schedule.",
    ),
  timeout_seconds: whole(1, 30).nullable().describe("The time limit of an attempt, in seconds; null for the default."),
  max_in_flight: whole(1, 100)
    .nullable()
    .describe("The largest number of attempts at the same time; null for the default."),
  rate: z
    .strictObject({
      limit: whole(1, 10_000).describe("The number of deliveries in one period."),
      per_seconds: whole(1, 3_600).describe("The length of the period in seconds."),
    })
    .nullable()
    .describe("Attempts per period, across all processes, evenly spread."),
  ordered: z.boolean().nullable().describe("One delivery at a time for each subject, in the order of its events."),
  order_hold_seconds: whole(1, 604_800)
    .nullable()
    .describe("The longest time that a failing delivery holds up those behind it, in seconds; null for the default."),
  filter: filter.nullable().describe("A condition on the body of an event; others are not delivered."),
  headers: headers.nullable().describe("Headers of every attempt, replaced as a whole."),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(500).nullable())
    .refine((given) => Object.keys(given).length <= metadataMax, {
      error: `At most ${metadataMax} members are allowed.`,
    })
    .nullable()
    .describe("Strings for the owner's own use, by name; null removes one."),
  signatures: z
    .array(shown.signatures.element)
    .refine((given) => new Set(given).size === given.length, { error: "Duplicate signature." })
    .nullable()
    .describe("The kinds of signatures that are sent."),
  client_certificate: certificatePair.nullable().describe("PEM without a passphrase. The key is never shown."),
  api_version: z.enum(["v1"]).nullable().describe("The version of the body; null for the default."),
  format: z
    .enum([...shown.format.options, "standard"])
    .nullable()
    .describe("The format of the body; null for the default. `standard` is an alias of `envelope`."),
};

/** Null selects the service's default, so in a merge patch it removes the setting (RFC 7396). */
export const SettingsBody = z.strictObject(members).partial();
