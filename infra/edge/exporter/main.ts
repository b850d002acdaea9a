/**
 * `edge-exporter --status-url=http://edge:8082/status`: what Prometheus scrapes of the edge. nginx sends its access log
 * to the UDP port `--lines-port`. With `--certificate=edge:8443` the certificate there is looked at too: it must be for
 * the host of `--base-url`, and of an authority in the file `--authorities` where one is named.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { edgeConnectionsMax } from "../nginx-configuration.ts";
import { startEdgeExporter } from "./edge-exporter.ts";

const { values } = parseArgs({
  options: {
    host: { type: "string", default: "0.0.0.0" },
    port: { type: "string", default: "9113" },
    "lines-port": { type: "string", default: "5514" },
    "status-url": { type: "string" },
    certificate: { type: "string", default: "" },
    "base-url": { type: "string", default: "https://localhost" },
    authorities: { type: "string", default: "" },
  },
});
if (values["status-url"] === undefined) throw new Error("--status-url is missing: the address of nginx's stub_status");
const exporter = await startEdgeExporter({
  host: values.host,
  port: Number(values.port),
  linesPort: Number(values["lines-port"]),
  statusUrl: values["status-url"],
  connectionsMax: edgeConnectionsMax,
  certificate:
    values.certificate === ""
      ? undefined
      : {
          address: values.certificate,
          name: new URL(values["base-url"]).hostname,
          authorities: values.authorities === "" ? undefined : values.authorities,
        },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void exporter.close());
