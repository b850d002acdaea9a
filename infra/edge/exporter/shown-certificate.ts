import { readFile } from "node:fs/promises";
import { connect } from "node:tls";

/** The TLS listener to look at, and what its certificate must be. */
export interface CertificateCheck {
  /** `edge:8443`. */
  readonly address: string;
  /** The host that callers type. */
  readonly name: string;
  /** File of the authorities to trust; left out or empty, those of Node. */
  readonly authorities?: string | undefined;
}

export interface ShownCertificate {
  readonly endsAtSeconds: number;
  /** True when it is for the name, in its time, and of a trusted authority. */
  readonly isTrusted: boolean;
}

/** Shakes hands as a caller does and returns what was shown; null when there was no handshake within the time. */
export async function shownCertificate(check: CertificateCheck, timeoutMs: number): Promise<ShownCertificate | null> {
  const { address, name, authorities } = check;
  const { hostname: host, port } = new URL(`tls://${address}`);
  // Read each time: a renewed authority counts at once.
  const own = authorities === undefined ? "" : await readFile(authorities, "utf8").catch(() => "");
  const ca = own.trim() === "" ? undefined : own;
  return await new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), servername: name, rejectUnauthorized: false, ca }, () => {
      const certificate = socket.getPeerX509Certificate();
      const endsAtSeconds = certificate ? Date.parse(certificate.validTo) / 1000 : Number.NaN;
      finish(Number.isFinite(endsAtSeconds) ? { endsAtSeconds, isTrusted: socket.authorized } : null);
    });
    const finish = (result: ShownCertificate | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(null), timeoutMs);
    socket.on("error", () => finish(null));
  });
}
