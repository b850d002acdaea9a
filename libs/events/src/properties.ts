export { eventsProperties, topicsProperties } from "./log/log-properties.ts";
