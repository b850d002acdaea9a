import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "webhook-delivery", properties, load: () => import("./service.ts") });
