import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "gateway", properties, load: () => import("./service.ts") });
