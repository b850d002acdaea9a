import { edgeRoutes } from "../edge/edge-routes.ts";
import { labelsOf } from "./pod.ts";

/** The entrance of a deployment; the chart has expressions over its values. */
export interface RouteSettings {
  readonly host: string;
  readonly ingressClass: string;
  readonly tlsSecret: string;
  readonly annotations: unknown;
  /** The Gateway that the routes are attached to. */
  readonly gateway: string;
}

/** Limit of uploaded originals; a service enforces its own limit too. */
const bodyMax = "64m";

/** The base's; an overlay replaces the host. */
export const baseRoutes = {
  host: "signalbox.example",
  ingressClass: "nginx",
  tlsSecret: "signalbox-tls",
  annotations: {
    "nginx.ingress.kubernetes.io/proxy-body-size": bodyMax,
    "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
    // Event streams and sockets stay open as long as their clients.
    "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
    "nginx.ingress.kubernetes.io/proxy-buffering": "off",
  },
  gateway: "signalbox",
} satisfies RouteSettings;

/** Builds the edge's routes for an Ingress controller, of nginx unless the annotations are those of another one. */
export function ingress({ host, ingressClass, tlsSecret, annotations }: RouteSettings): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "signalbox", labels: labelsOf("edge"), annotations },
    spec: {
      ingressClassName: ingressClass,
      tls: [{ hosts: [host], secretName: tlsSecret }],
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
export function httpRoutes({ host, gateway }: RouteSettings): object[] {
  return [...Map.groupBy(edgeRoutes, ({ service }) => service)].map(([service, routes]) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: service, labels: labelsOf("edge") },
    spec: {
      parentRefs: [{ name: gateway }],
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
