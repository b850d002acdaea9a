import { runService } from "../src/index.ts";
import { probeProperties } from "./probe-properties.ts";

await runService({ service: "account", properties: probeProperties, load: () => import("./probe-service.ts") });
