import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "image-worker", properties, load: () => import("./service.ts") });
