import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "images", properties, load: () => import("./service.ts") });
