import { defineProperties } from "../src/config/property-declaration.ts";
import { runtimeProperties } from "../src/properties.ts";

export const probeProperties = defineProperties({
  ...runtimeProperties,
  "probe.behaviour": { type: "list", default: [], secrecy: "internal", reload: "restart", effect: "What goes wrong." },
  "probe.password": { type: "string", default: "hunter2", secrecy: "secret", reload: "restart", effect: "Hidden." },
  "probe.note": { type: "string", default: "for insiders", secrecy: "sensitive", reload: "restart", effect: "Masked." },
  "probe/odd name": { type: "string", default: "odd", secrecy: "public", reload: "restart", effect: "Needs encoding." },
});
