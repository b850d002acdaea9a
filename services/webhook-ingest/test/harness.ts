import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "@signalbox/core";
import {
  type Overrides,
  type StartedService,
  startService,
  type TestAnswer,
  type TestPerson,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

export const sourcesPath = "/api/v1/webhooks/sources";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** The webhook-ingest service. */
export interface Harness extends StartedService<typeof properties> {
  /** Registers a source and shows it. */
  newSource(who: TestPerson, source: object): Promise<{ id: string; ingest_path: string }>;
  /** Posts to the ingest path of a source. */
  post(
    source: { ingest_path: string },
    webhook: { headers: Record<string, string>; body: string | Buffer },
  ): Promise<TestAnswer>;
}

export async function startIngest(
  overrides: Overrides<typeof properties> = {},
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<Harness> {
  const service = await startService({
    name: "webhook-ingest",
    properties,
    createService,
    topics: ["signalbox.webhook-source.v1", "signalbox.webhook-received.v1", "signalbox.webhook-rejection.v1"],
    overrides,
    clock,
  });
  const { send } = service;
  return {
    ...service,
    async newSource(who, source) {
      const { status, text, body } = await send(who, "POST", sourcesPath, { body: { name: "Shop", ...source } });
      if (status !== 201) throw new Error(`no source: ${status} ${text}`);
      return body;
    },
    post: ({ ingest_path }, { headers, body }) => send(null, "POST", ingest_path, { headers, body }),
  };
}
