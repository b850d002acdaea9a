import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { enginesFolder } from "./engine-folders.ts";
import { answersHttp } from "./exchange.ts";
import { fetchOnce } from "./fetch-once.ts";
import { freePort } from "./free-port.ts";
import { installWithGo } from "./go-program.ts";
import { startDetached } from "./processes.ts";

const version = "v1.7.0";
const module = `github.com/versity/versitygw/cmd/versitygw@${version}`;
/** Named after the version, so that another version is another program. */
const programs = join(enginesFolder, `versitygw-${version}`);
const program = join(programs, "versitygw");

/** The gateway serves 127.0.0.1 and test data only, so the keys need no secrecy, only to be checked by the server. */
const details = { accessKey: "signalbox", secretKey: "signalbox-test-secret", region: "us-east-1" };

/** versitygw: a real S3 server over a folder, which checks signatures and conditional writes. */
export const versitygw: Engine = {
  name: "s3",
  stopSignal: "SIGTERM",

  async fetch() {
    await fetchOnce(programs, (folder) => installWithGo(folder, [module], "versitygw is"));
    return `versitygw ${version}`;
  },

  async start({ folder, port: wanted }) {
    const port = wanted ?? (await freePort());
    // It changes its working directory and does not create folders: every path is absolute and exists.
    const [data, users, versions] = [join(folder, "data"), join(folder, "users"), join(folder, "versions")];
    for (const each of [data, users, versions]) await mkdir(each, { recursive: true });
    const { accessKey, secretKey, region } = details;
    const server = ["--port", `127.0.0.1:${port}`, "--access", accessKey, "--secret", secretKey, "--region", region];
    const args = ["--quiet", ...server, "--iam-dir", users, "posix", "--versioning-dir", versions, data];
    const logFile = join(folder, "versitygw.log");
    const handle = await startDetached({ command: program, args, logFile, folder }, () => versitygw.answers(port));
    return { name: "s3", url: `s3+http://127.0.0.1:${port}`, port, ...handle, folder, details };
  },

  answers: (port) => answersHttp(port),
};
