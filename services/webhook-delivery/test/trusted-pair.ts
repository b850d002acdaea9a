import { readFile } from "node:fs/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createCertificates } from "@signalbox/testing";

/** A certificate of `localhost` with its key, in PEM, which this process trusts from now on. */
export async function trustedPair(): Promise<{ readonly cert: string; readonly key: string }> {
  const certificates = await createCertificates();
  const cert = await readFile(certificates.certFile, "utf8");
  const key = await readFile(certificates.keyFile, "utf8");
  setDefaultCACertificates([...getCACertificates(), await readFile(certificates.caFile, "utf8")]);
  await certificates.remove();
  return { cert, key };
}
