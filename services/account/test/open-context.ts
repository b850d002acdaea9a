import { fileURLToPath } from "node:url";
import { type Clock, createManualClock, type ManualClock } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { openDatabase } from "@signalbox/service";
import { databaseOptions, openPool, type Pool } from "@signalbox/storage";
import { createMailbox, type Mailbox, testContext, testDatabase } from "@signalbox/testing";
import type { AccountService } from "../src/context/account-service.ts";
import { openAccountService } from "../src/open-account-service.ts";
import { properties } from "../src/properties.ts";

/**
 * The service's context on a separate database, without listeners and workers: a test starts those that it
 * watches.
 */
export interface OpenContext extends Instance {
  readonly mailbox: Mailbox;
  readonly clock: ManualClock;
  /** Another instance of the service on the same database. */
  another(overrides?: Overrides): Promise<Instance>;
  close(): Promise<void>;
}

interface Instance {
  readonly service: AccountService;
  readonly pool: Pool;
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  readonly metrics: () => Promise<string>;
  /** Runs the worker that sends mails until the instance is closed. */
  sendMails(): void;
  close(): Promise<void>;
}

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

export async function openContext(): Promise<OpenContext> {
  const [database, mailbox, clock] = [await testDatabase(), await createMailbox(), createManualClock(new Date())];
  const given = {
    "database.url": database.url,
    "mail.url": mailbox.url,
    "events.url": database.url,
    "internal.token": "internal-token-of-the-account-tests-01",
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  const instance = await openInstance(given, clock);
  return {
    ...instance,
    mailbox,
    clock,
    another: (overrides = {}) => openInstance({ ...given, ...overrides }, clock),
    async close() {
      await instance.close();
      await mailbox.close();
      await database.close();
    },
  };
}

async function openInstance(given: Overrides, clock: Clock): Promise<Instance> {
  const context = testContext("account", properties, given, { clock });
  const pool = await openDatabase(context, prismaDirectory);
  const outbox = createOutbox({ ...context, pool, maxBytes: 1_000_000 });
  const counting = openPool({
    ...databaseOptions(context.configuration),
    ...context,
    max: 2,
    applicationName: "tries",
  });
  const service = openAccountService(context, { pool, outbox, counting });
  return {
    service,
    pool,
    logged: context.logged,
    metrics: () => context.metrics.text(),
    sendMails: () => service.mails.startWorker(context.runner),
    close: () => context.close(),
  };
}
