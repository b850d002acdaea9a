import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../engine.ts";
import { enginesFolder } from "../engine-folders.ts";
import { exchange } from "../exchange.ts";
import { fetchOnce } from "../fetch-once.ts";
import { freePort } from "../free-port.ts";
import { installWithGo } from "../go-program.ts";
import { startDetached } from "../processes.ts";

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
    const [data, users, versions] = ["data", "users", "versions"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [data, users, versions]) await mkdir(each, { recursive: true });
    const { accessKey, secretKey, region } = details;
    const handle = await startDetached(
      {
        command: program,
        args: [
          "--quiet",
          "--port",
          `127.0.0.1:${port}`,
          "--access",
          accessKey,
          "--secret",
          secretKey,
          "--region",
          region,
          "--iam-dir",
          users,
          "posix",
          "--versioning-dir",
          versions,
          data,
        ],
        logFile: join(folder, "versitygw.log"),
        folder,
      },
      () => versitygw.answers(port),
    );
    return { name: "s3", url: `s3+http://127.0.0.1:${port}`, port, ...handle, folder, details };
  },

  async answers(port) {
    const answer = await exchange(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    return answer?.toString().startsWith("HTTP/1.1") ?? false;
  },
};
