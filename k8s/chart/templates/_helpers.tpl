{{- /* Generated from infra/kubernetes by `npm run generate`. */}}
{{- define "signalbox.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "signalbox.host" -}}
{{ required "host is missing: the name that users type, such as signalbox.example" .Values.host }}
{{- end -}}

{{- define "signalbox.configuration" -}}
{{- $configuration := .Values.configuration -}}
{{- if .Values.host -}}
{{- $configuration = merge (dict) $configuration (dict "SIGNALBOX_HTTP_BASE_URL" (printf "https://%s" .Values.host)) -}}
{{- end -}}
{{ toYaml $configuration }}
{{- end -}}
