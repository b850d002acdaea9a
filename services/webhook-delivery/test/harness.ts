import { fileURLToPath } from "node:url";
import { draft, eventOf } from "@signalbox/contracts";
import { type Clock, randomId, systemClock } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import {
  type Overrides,
  type StartedService,
  startService,
  type TestPerson,
  testContext,
  testEventLog,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

export const endpointsPath = "/api/v1/webhooks/endpoints";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

interface NewEndpoint {
  readonly id: string;
  readonly secret: string;
}

export interface DeliveryView {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly next_attempt_at: string | null;
}

interface AttemptView {
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly counted: boolean;
  readonly started_at: string;
}

/** The webhook-delivery service. */
export interface Harness extends StartedService<typeof properties> {
  /** Registers an endpoint and shows it with its secret. */
  newEndpoint(who: TestPerson, endpoint: object): Promise<NewEndpoint>;
  deliveriesOf(who: TestPerson, query?: string): Promise<DeliveryView[]>;
  attemptsOf(who: TestPerson, deliveryId: string): Promise<AttemptView[]>;
  /** Publishes that an image of the account was created; returns its id. */
  createImage(accountId: string): Promise<string>;
}

export async function startDelivery(
  overrides: Overrides<typeof properties> = {},
  clock: Clock = systemClock,
): Promise<Harness> {
  const service = await startService({
    name: "webhook-delivery",
    properties,
    createService,
    clock,
    topics: ["signalbox.webhook-delivery.v1"],
    overrides: {
      "webhook-delivery.outbound.allow": "127.0.0.1:*",
      "webhook-delivery.attempts.delay-min": "0",
      ...overrides,
    },
  });
  const { send, publish } = service;
  return {
    ...service,
    async newEndpoint(who, endpoint) {
      const given = { event_types: ["image.created"], ...endpoint };
      const { status, text, body } = await send(who, "POST", endpointsPath, { body: given });
      if (status !== 201) throw new Error(`no endpoint: ${status} ${text}`);
      return body;
    },
    deliveriesOf: async (who, query = "") =>
      (await send(who, "GET", `/api/v1/webhooks/deliveries?limit=100${query}`)).body.items,
    attemptsOf: async (who, deliveryId) =>
      (await send(who, "GET", `/api/v1/webhooks/attempts?limit=100&delivery_id=${deliveryId}`)).body.items,
    async createImage(accountId) {
      const event = imageCreated(accountId);
      await publish(event);
      return event.subject;
    },
  };
}

/** Publishes that an image of the account was created, while no service runs. */
export async function sayImageCreated(eventsUrl: string, accountId: string): Promise<void> {
  const context = testContext("images", {});
  const eventLog = await testEventLog(eventsUrl, context);
  await publishEvents({ ...context, eventLog, service: "images" }, [imageCreated(accountId)]);
  await context.close();
}

function imageCreated(accountId: string) {
  const id = randomId("img");
  return draft("image.created", { subject: id, accountId, data: { ...eventOf("image.created").example, id } });
}
