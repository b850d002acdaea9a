import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createMailbox } from "@signalbox/testing";
import { usesPackedClient } from "../client-package/uses-packed-client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { isOfOneMoment, type Reach, restoreBackup, takeBackup } from "./back-up.ts";
import { createClient, expectStatus } from "./client.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";

const reach = (dataDirectory: string): Reach => ({ args: [`--embedded.data-directory=${dataDirectory}`] });

/** Loses the disk with everything on it: databases, event log and blobs. Keys are kept elsewhere. */
async function loseDisk({ process: server, dataDirectory }: EmbeddedSystem): Promise<void> {
  await server.kill();
  const [pid] = (await readFile(join(dataDirectory, "postgres/data/postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  for (const folder of ["postgres", "blobs"])
    await rm(join(dataDirectory, folder), { recursive: true, maxRetries: 10 });
}

test("a backup brings everything back after the loss of the disk, for programs with the packed client too", async (context) => {
  const mailbox = await createMailbox();
  const properties = journeyProperties(mailbox);
  const first = await startEmbeddedSystem({ properties });
  try {
    const record = await runJourney(first, mailbox);
    await usesPackedClient(first, record.accountId);
    const backup = await takeBackup(first, record.imageId, reach(first.dataDirectory));
    assert.deepEqual([...(await first.stop()).values()], [0], "a stop drains and exits with 0");

    const second = await startEmbeddedSystem({ properties, dataDirectory: first.dataDirectory });
    assert.equal(second.apiKey, first.apiKey, "the first key is kept");
    const send = createClient(second.baseUrl, second.apiKey);
    const image = expectStatus(await send(`/images/${record.imageId}`), 200);
    assert.equal(image.json.status, "ready");
    const lostAt = performance.now();
    await loseDisk(second);
    context.diagnostic(await restoreBackup(backup, reach(first.dataDirectory)));
    const third = await startEmbeddedSystem({ properties, dataDirectory: first.dataDirectory });
    try {
      context.diagnostic(
        `from the loss of the disk to the start: ${((performance.now() - lostAt) / 1000).toFixed(1)} s`,
      );
      assert.equal(third.apiKey, first.apiKey);
      await isOfOneMoment(third, backup);
      await assertEvents(third.eventsUrl, await runJourney(third, mailbox));
      await third.stop();
    } finally {
      await third.process.kill();
      await backup.remove();
    }
  } finally {
    await first.process.kill();
    await removeData(first);
    await mailbox.close();
  }
});
