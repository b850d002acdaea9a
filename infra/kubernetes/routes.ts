import { edgeRoutes } from "../edge/edge-routes.ts";
import { labelsOf } from "./pod.ts";

/** Written over by the overlay of a house. */
const host = "signalbox.example";
/** Uploads of originals; a service refuses what is over its own limit. */
const bodyMax = "64m";

/** The table of the edge for an Ingress controller of nginx. */
export function ingress(): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: "signalbox",
      labels: labelsOf("edge"),
      annotations: {
        "nginx.ingress.kubernetes.io/proxy-body-size": bodyMax,
        "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
        // Event streams and sockets live for as long as somebody listens.
        "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
        "nginx.ingress.kubernetes.io/proxy-buffering": "off",
      },
    },
    spec: {
      ingressClassName: "nginx",
      tls: [{ hosts: [host], secretName: "signalbox-tls" }],
      rules: [
        {
          host,
          http: {
            paths: edgeRoutes.map(({ prefix, service }) => ({
              path: prefix,
              pathType: "Prefix",
              backend: { service: { name: service, port: { name: "http" } } },
            })),
          },
        },
      ],
    },
  };
}

/** The same table for the Gateway API. A route takes 16 rules, so each service has one of its own. */
export function httpRoutes(): object[] {
  return [...Map.groupBy(edgeRoutes, ({ service }) => service)].map(([service, routes]) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: service, labels: labelsOf("edge") },
    spec: {
      parentRefs: [{ name: "signalbox" }],
      hostnames: [host],
      rules: [
        {
          matches: routes.map(({ prefix }) => ({ path: { type: "PathPrefix", value: prefix } })),
          backendRefs: [{ name: service, port: 8080 }],
        },
      ],
    },
  }));
}
