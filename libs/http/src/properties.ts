export { httpProperties } from "./request/http-properties.ts";
