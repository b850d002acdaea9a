import { createPrivateKey, X509Certificate } from "node:crypto";
import type { WebhookEndpointResource } from "@signalbox/contracts";

/** A certificate with its key, both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

export type ShownCertificate = NonNullable<WebhookEndpointResource["settings"]["client_certificate"]>;

/** Reads a pair, and shows of it what is no secret; a text says what is wrong with it. */
export function readCertificate({ certificate, key }: CertificatePair, at: Date): ShownCertificate | string {
  let read: X509Certificate;
  try {
    read = new X509Certificate(certificate);
  } catch {
    return "The certificate cannot be read: PEM is wanted.";
  }
  try {
    if (!read.checkPrivateKey(createPrivateKey(key))) return "The key is not that of the certificate.";
  } catch {
    return "The key cannot be read: PEM without a passphrase is wanted.";
  }
  if (read.validToDate <= at) return "The certificate has expired.";
  return {
    subject: read.subject.replaceAll("\n", ", "),
    fingerprint: read.fingerprint256.replaceAll(":", "").toLowerCase(),
    expires_at: read.validToDate.toISOString(),
  };
}
