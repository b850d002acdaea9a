import { readFile } from "node:fs/promises";
import { connect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { createCertificates, eventually, freePort } from "@signalbox/testing";
import { reloadNginx, type SecureListener } from "../../systems/start-nginx.ts";
import type { Keep } from "../../systems/system.ts";

const dayMs = 86_400_000;

/** The certificate that callers of a system see. */
export interface EdgeCertificate {
  /** Shows one that ended a minute ago; returns once callers refuse it. */
  expire(): Promise<void>;
  /** Shows one that is valid; returns once callers accept it. */
  renew(): Promise<void>;
}

/** Creates a certificate of an authority that this process, the caller, trusts from now on. */
export async function openEdgeCertificate(keep: Keep) {
  const certificates = await createCertificates();
  keep({ close: () => certificates.remove() });
  setDefaultCACertificates([...getCACertificates(), await readFile(certificates.caFile, "utf8")]);
  const { certFile, keyFile } = certificates;
  const secure: SecureListener = { port: await freePort(), certFile, keyFile };

  const show = async (edge: { readonly folder: string }, endsAt: Date, isAccepted: boolean) => {
    // Issued for the same name, it takes the place of the files that nginx reads.
    await certificates.issue("localhost", { endsAt });
    await reloadNginx(edge);
    const isSeen = async () => (await accepts(secure.port)) === isAccepted;
    await eventually(isSeen, {
      timeoutMs: 30_000,
      message: `callers ${isAccepted ? "accept" : "refuse"} the certificate`,
    });
  };
  const ofEdge = (edge: { readonly folder: string }): EdgeCertificate => ({
    expire: () => show(edge, new Date(Date.now() - 60_000), false),
    renew: () => show(edge, new Date(Date.now() + 2 * dayMs), true),
  });
  return { secure, ofEdge };
}

/** Says if a new connection is trusted; one that is open already stays open when its certificate ends. */
async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost" }, () => resolve(true));
  socket.once("error", () => resolve(false));
  return await promise.finally(() => socket.destroy());
}
