import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "webhook-ingest", properties, load: () => import("./service.ts") });
