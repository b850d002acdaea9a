import type { WebhookEndpointResource } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { type CertificatePair, readCertificate } from "./client-certificate.ts";

export type EndpointSettings = WebhookEndpointResource["settings"];

/** Settings as an owner writes them. Null selects the service's default; secrets are in the clear. */
export type GivenSettings = {
  readonly [Name in Exclude<keyof EndpointSettings, "headers" | "metadata" | "client_certificate">]?:
    | EndpointSettings[Name]
    | null
    | undefined;
} & {
  readonly headers?: readonly GivenHeader[] | null | undefined;
  /** A null member is removed. */
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
  readonly client_certificate?: CertificatePair | null | undefined;
};

interface GivenHeader {
  readonly name: string;
  /** Null keeps the value of a secret header. */
  readonly value: string | null;
  readonly secret: boolean;
}

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

/** Names under which the sealed parts of the settings are stored. */
export const certificateName = "client_certificate";
export const headerName = (name: string): string => `header:${name.toLowerCase()}`;

/** Settings after a change, and the sealed texts to save: null removes one. */
export interface SettledSettings {
  readonly settings: EndpointSettings;
  readonly credentials: ReadonlyMap<string, string | null>;
}

/**
 * Merges the given settings into the current ones (RFC 7396; a filter, a rate and the headers are replaced as a whole).
 * @throws AppError `validation_error` for a secret header without a value and for a certificate that cannot be used
 */
export function settle(current: EndpointSettings, given: GivenSettings, at: Date): SettledSettings {
  const { headers, metadata, client_certificate: pair, ...plain } = given;
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

function settleMetadata(
  current: EndpointSettings["metadata"],
  given: Readonly<Record<string, string | null>>,
): EndpointSettings["metadata"] {
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

export const metadataMax = 20;

function refusedSetting(field: string, message: string): AppError {
  const details = [{ field, code: "invalid" as const, message }];
  return new AppError("validation_error", "A setting is not valid.", { details });
}
