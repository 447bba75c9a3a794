{{- define "bench.name" -}}
bench-{{ .Values.run.id }}
{{- end }}

{{/* A text as the value of a label. One that is too long, or ends badly, is cut and gets a hash of
     all of it: two long names that begin alike stay two. */}}
{{- define "bench.labelValue" -}}
{{- if regexMatch "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$" . -}}
{{ . }}
{{- else -}}
{{ trunc 54 . }}-{{ sha256sum . | trunc 8 }}
{{- end -}}
{{- end }}

{{/* (list $ component) -> the labels by which pods of one run are found. */}}
{{- define "bench.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/component: {{ last . }}
iot-bench/run: {{ $root.Values.run.id | quote }}
{{- end }}

{{/* (list $ component) -> the labels of every object; quoted: an id may read as a number. */}}
{{- define "bench.labels" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{ include "bench.selector" . }}
iot-bench/sweep: {{ $root.Values.run.sweep | quote }}
iot-bench/owner: {{ $root.Values.run.owner | quote }}
iot-bench/target: {{ include "bench.labelValue" $root.Values.run.target | quote }}
{{- end }}

{{- define "bench.image" -}}
{{- with .Values.image -}}
{{ .name }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}
