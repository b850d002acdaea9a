import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface TestCertificates {
  readonly folder: string;
  /** Of the authority that signed the others. */
  readonly caFile: string;
  /** Of `localhost`. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Of an authority that signed none of them. */
  readonly otherCaFile: string;
  /** Makes another certificate of the authority, for a name. */
  issue(name: string): Promise<{ readonly certFile: string; readonly keyFile: string }>;
  remove(): Promise<void>;
}

/** Makes a certificate authority and a certificate of it for `localhost`, with `openssl`. */
export async function createCertificates(): Promise<TestCertificates> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-certificates-"));
  const at = (name: string) => join(folder, name);
  const openssl = (args: string) => run("openssl", args.split(" "), { cwd: folder });
  for (const name of ["ca", "other-ca"])
    await openssl(`req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`);

  async function issue(name: string) {
    await openssl(`req -newkey rsa:2048 -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
    await writeFile(at(`${name}.cnf`), `subjectAltName=DNS:${name}\n`);
    await openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ${name}.cnf -out ${name}.pem`,
    );
    return { certFile: at(`${name}.pem`), keyFile: at(`${name}.key`) };
  }

  const server = await issue("localhost");
  const files = { folder, caFile: at("ca.pem"), otherCaFile: at("other-ca.pem"), ...server };
  return { ...files, issue, remove: () => rm(folder, { recursive: true }) };
}
