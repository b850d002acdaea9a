/** The security settings of every container of ours: the profile "restricted" of Kubernetes, and a read-only root. */
const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: "RuntimeDefault" },
};

/** The settings that the pods of a deployment share. Kustomize patches them in, and the chart has expressions over its values. */
export interface PodSettings {
  /** The image of every service and job. */
  readonly image: string;
  /** More members of the metadata, the specification and the container of each pod. */
  readonly metadata?: object;
  readonly spec?: object;
  readonly container?: object;
}

/** The pods of the base; overlays set the version of the image. */
export const basePods: PodSettings = { image: "signalbox" };

interface PodParts {
  readonly name: string;
  readonly settings: PodSettings;
  readonly args: readonly string[];
  /** Members that the services or the jobs alone have. */
  readonly spec: object;
  readonly container: object;
  readonly volumes?: readonly { readonly name: string; readonly mountPath: string; readonly source: object }[];
}

/** Builds the template of a pod of one container: without rights, without a token, and with two writable folders. */
export function podTemplate({ name, settings, args, spec, container, volumes = [] }: PodParts): object {
  return {
    metadata: { labels: labelsOf(name), ...settings.metadata },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: podSecurity,
      ...settings.spec,
      ...spec,
      containers: [
        {
          name,
          image: settings.image,
          ...settings.container,
          args,
          env: [{ name: "TMPDIR", value: "/scratch" }],
          ...container,
          securityContext: containerSecurity,
          volumeMounts: [...scratch, ...volumes].map((volume) => ({ name: volume.name, mountPath: volume.mountPath })),
        },
      ],
      volumes: [...scratch, ...volumes].map((volume) => ({ name: volume.name, ...volume.source })),
    },
  };
}

/** Writable folders of every container, the first one for temporary files; both are removed with the pod. */
const scratch = [
  { name: "scratch", mountPath: "/scratch", source: { emptyDir: { sizeLimit: "2Gi" } } },
  { name: "overrides", mountPath: "/var/lib/signalbox", source: { emptyDir: { sizeLimit: "16Mi" } } },
];

export function serviceAccount(name: string): object {
  const metadata = { name, labels: labelsOf(name) };
  return { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false };
}

export const labelsOf = (name: string): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/part-of": "signalbox",
});
