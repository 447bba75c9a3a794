{{/* Not empty for the CronJob. The runs that it starts may have the same values. */}}
{{- define "bench.nightly" -}}
{{- if and .Values.nightly.enabled (not .Values.run.id) }}true{{ end -}}
{{- end }}

{{- define "bench.name" -}}
bench-{{ .Values.run.id }}
{{- end }}

{{/* A text as a label value. A text that is too long or not valid is cut and gets a hash of the whole,
     so that long names with the same beginning stay different. */}}
{{- define "bench.labelValue" -}}
{{- if regexMatch "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$" . -}}
{{ . }}
{{- else -}}
{{ trunc 54 . }}-{{ sha256sum . | trunc 8 }}
{{- end -}}
{{- end }}

{{/* (list $ component) -> the labels that select the pods of one run. */}}
{{- define "bench.selector" -}}
app.kubernetes.io/component: {{ last . }}
{{- with (first .).Values.run.id }}
iot-bench/run: {{ . | quote }}
{{- end }}
{{- end }}

{{/* (list $ component) -> the labels of every object; quoted, since YAML may read an id as a number. */}}
{{- define "bench.labels" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{ include "bench.selector" . }}
{{- if $root.Values.run.id }}
iot-bench/sweep: {{ $root.Values.run.sweep | quote }}
iot-bench/owner: {{ $root.Values.run.owner | quote }}
iot-bench/target: {{ include "bench.labelValue" $root.Values.run.target | quote }}
{{- end }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* (list $ component) -> the metadata of an object, below its name. */}}
{{- define "bench.metadata" -}}
labels:
  {{- include "bench.labels" . | nindent 2 }}
{{- with (first .).Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "bench.image" -}}
{{- with .Values.image -}}
{{ .name }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}
