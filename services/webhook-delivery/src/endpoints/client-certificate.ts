import { createPrivateKey, X509Certificate } from "node:crypto";
import type { WebhookEndpointResource } from "@signalbox/contracts";

/** A certificate with its key, both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

export type ShownCertificate = NonNullable<WebhookEndpointResource["settings"]["client_certificate"]>;

/** Checks a pair and returns its public part, or a text that says what is wrong. */
export function readCertificate({ certificate, key }: CertificatePair, at: Date): ShownCertificate | string {
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
