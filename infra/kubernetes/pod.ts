/** The security settings of every container of ours: the profile "restricted" of Kubernetes, and a read-only root. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: "RuntimeDefault" },
};

/** The image of every service and job; overlays set its version. */
export const image = "signalbox";

/** Writable folders of a container; both are removed with the pod. */
export const scratch = {
  volumes: [
    { name: "scratch", emptyDir: { sizeLimit: "2Gi" } },
    { name: "overrides", emptyDir: { sizeLimit: "16Mi" } },
  ],
  /** Environment of the container: its temporary folder is the writable one. */
  env: [{ name: "TMPDIR", value: "/scratch" }],
  mounts: [
    { name: "scratch", mountPath: "/scratch" },
    { name: "overrides", mountPath: "/var/lib/signalbox" },
  ],
};

export const labelsOf = (name: string): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/part-of": "signalbox",
});
