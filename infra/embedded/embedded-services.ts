import { properties as account } from "@signalbox/account-service/properties";
import { properties as config } from "@signalbox/config-service/properties";
import type { ServiceName } from "@signalbox/core";
import { properties as gateway } from "@signalbox/gateway-service/properties";
import { properties as imageWorker } from "@signalbox/image-worker-service/properties";
import { properties as images } from "@signalbox/images-service/properties";
import type { PropertyDeclarations, ServiceContext, ServiceParts } from "@signalbox/runtime";
import { properties as webhookDelivery } from "@signalbox/webhook-delivery-service/properties";
import { properties as webhookIngest } from "@signalbox/webhook-ingest-service/properties";

/** A service as the embedded process starts it. `load` comes after telemetry, whose hooks must be there first. */
export interface EmbeddedService {
  readonly name: ServiceName;
  readonly properties: PropertyDeclarations;
  readonly load: () => Promise<(context: ServiceContext<never>) => Promise<ServiceParts>>;
}

type Create = (context: ServiceContext<never>) => Promise<ServiceParts>;
const loader = (load: () => Promise<{ createService: unknown }>) => async () => (await load()).createService as Create;

/** Every service. The order does not matter: they are built side by side and find each other by URL. */
export const embeddedServices: readonly EmbeddedService[] = [
  { name: "account", properties: account, load: loader(() => import("@signalbox/account-service/service")) },
  { name: "images", properties: images, load: loader(() => import("@signalbox/images-service/service")) },
  {
    name: "image-worker",
    properties: imageWorker,
    load: loader(() => import("@signalbox/image-worker-service/service")),
  },
  { name: "config", properties: config, load: loader(() => import("@signalbox/config-service/service")) },
  {
    name: "webhook-ingest",
    properties: webhookIngest,
    load: loader(() => import("@signalbox/webhook-ingest-service/service")),
  },
  {
    name: "webhook-delivery",
    properties: webhookDelivery,
    load: loader(() => import("@signalbox/webhook-delivery-service/service")),
  },
  { name: "gateway", properties: gateway, load: loader(() => import("@signalbox/gateway-service/service")) },
];
