import { edgeRoutes } from "../edge/edge-routes.ts";
import { labelsOf } from "./pod.ts";

/** Replaced by the overlay of a deployment. */
const host = "signalbox.example";
/** Limit of uploaded originals; a service enforces its own limit too. */
const bodyMax = "64m";

/** Builds the edge's routes for an Ingress controller of nginx. */
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
        // Event streams and sockets stay open as long as their clients.
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
            paths: edgeRoutes.map(({ prefix, service, exact }) => ({
              path: prefix,
              pathType: exact ? "Exact" : "Prefix",
              backend: { service: { name: service, port: { name: "http" } } },
            })),
          },
        },
      ],
    },
  };
}

/** Builds the same routes for the Gateway API. A route has at most 16 rules, so each service has one of its own. */
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
          matches: routes.map(({ prefix, exact }) => ({
            path: { type: exact ? "Exact" : "PathPrefix", value: prefix },
          })),
          backendRefs: [{ name: service, port: 8080 }],
        },
      ],
    },
  }));
}
