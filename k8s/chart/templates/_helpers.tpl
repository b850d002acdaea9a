{{/* The image of every pod: its digest, where one is given, or its tag. */}}
{{- define "signalbox.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "signalbox.host" -}}
{{ required "host is missing: the name that users type, such as signalbox.example" .Values.host }}
{{- end }}

{{/* The properties that all services share, with the address of the host. */}}
{{- define "signalbox.configuration" -}}
{{- $configuration := .Values.configuration -}}
{{- if .Values.host -}}
{{- $configuration = merge (dict) $configuration (dict "SIGNALBOX_HTTP_BASE_URL" (printf "https://%s" .Values.host)) -}}
{{- end -}}
{{ toYaml $configuration }}
{{- end }}

{{/* Labels of a service, job or route. Takes its name. */}}
{{- define "signalbox.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: signalbox
{{- end }}

{{/* The account and security of a pod, and what the values say of every pod. Takes its name and the root. */}}
{{- define "signalbox.pod" -}}
serviceAccountName: {{ .name }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .root.Values.pods.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The image and security of a container: the profile "restricted" of Kubernetes, and a read-only root. */}}
{{- define "signalbox.container" -}}
image: {{ include "signalbox.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: TMPDIR
    value: /scratch
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* The two writable folders of a container: temporary files, and the copy of its settings. Both go with the pod. */}}
{{- define "signalbox.volumeMounts" -}}
- name: scratch
  mountPath: /scratch
- name: overrides
  mountPath: /var/lib/signalbox
{{- end }}

{{- define "signalbox.volumes" -}}
- name: scratch
  emptyDir:
    sizeLimit: 2Gi
- name: overrides
  emptyDir:
    sizeLimit: 16Mi
{{- end }}
