import { seconds } from "@signalbox/core";
import { createWakeUp } from "@signalbox/runtime";
import { createSealer, type Pool } from "@signalbox/storage";
import type { Configured } from "../properties.ts";
import { createMailQueue } from "./mail-queue.ts";
import { createMails } from "./mails.ts";
import { openMailTransport } from "./open-mail-transport.ts";
import { createSendDueMails } from "./send-due-mails.ts";

/** The queue of mails, and the worker that sends what is in it. */
export function createMailing({ configuration, clock, log, metrics }: Configured, pool: Pool) {
  const queue = createMailQueue(pool, createSealer(configuration.get("secrets.keys")));
  // Another instance that was killed leaves mails behind; this is how soon they are looked for.
  const wakeUp = createWakeUp(seconds(1));
  const transport = openMailTransport(configuration.get("mail.url"), configuration.get("mail.from"));
  return {
    mails: createMails({ queue, clock, baseUrl: configuration.get("http.base-url"), wake: wakeUp.wake }),
    sendDueMails: createSendDueMails({ queue, transport, wakeUp, clock, log, metrics }),
  };
}
