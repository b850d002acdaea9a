import { runService } from "@signalbox/runtime";
import { properties } from "./properties.ts";

await runService({ service: "account", properties, load: () => import("./service.ts") });
