import { examples, timestamp, viewOf } from "@signalbox/contracts";
import { z } from "zod";
import { customEventExample } from "./custom-event.ts";
import type { StoredEvent } from "./event-store.ts";

export const EventResource = z
  .object({
    id: z.string().describe("The id of the event."),
    type: z.string().describe("The name of its type."),
    created_at: timestamp,
    body: z.string().describe("Body of its deliveries, byte for byte: signatures cover this text."),
  })
  .meta({ id: "WebhookEvent", description: "An event as subscribers get it." })
  .register(examples, {
    example: {
      id: customEventExample.id,
      type: customEventExample.type,
      created_at: "2026-01-01T09:00:00.000Z",
      body: JSON.stringify({ id: customEventExample.id, type: customEventExample.type, data: customEventExample.data }),
    },
  });

export const viewEvent = viewOf(EventResource, ({ body }: StoredEvent) => ({ body: body.toString("utf8") }));
