import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "config", properties, load: () => import("./service.ts") });
