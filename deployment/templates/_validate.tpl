{{/* Fails if values contradict each other, with one sentence for each problem: the keys and the fix.
     values.schema.json checks single values. */}}
{{- define "bench.validate" -}}
{{- $own := ternary "bench.problems.nightly" "bench.problems.run" (ne (include "bench.nightly" .) "") -}}
{{- $problems := concat
    (include $own . | splitList "\n")
    (include "bench.problems.image" . | splitList "\n")
    (include "bench.problems.resources" . | splitList "\n")
    (include "bench.problems.pods" . | splitList "\n") | compact -}}
{{- if $problems -}}
{{- fail (printf "invalid values:\n- %s" (join "\n- " $problems)) -}}
{{- end -}}
{{- end }}

{{- define "bench.problems.run" -}}
{{- $run := .Values.run -}}
{{- $missing := list -}}
{{- range list "id" "sweep" "owner" "target" "spec" "credentials" -}}
  {{- if not (get $run .) }}{{ $missing = append $missing (print "run." .) }}{{ end -}}
{{- end -}}
{{- with $missing }}
{{ join ", " . }} must be set: start the run with run.py, which sets them, or set nightly.enabled
{{- end }}
{{- if and $run.spec (hasKey (fromJson $run.spec) "Error") }}
run.spec must be a JSON object in a string, got {{ $run.spec | trunc 40 | quote }}
{{- end }}
{{- $named := $run.options -}}
{{- range $run.secretOptions }}{{ $named = append $named .option }}{{ end -}}
{{- range include "bench.repeated" $named | fromJsonArray }}
run.options and run.secretOptions name {{ . | quote }} more than once: keep one of them
{{- end }}
{{- end }}

{{- define "bench.problems.nightly" -}}
{{- $nightly := .Values.nightly -}}
{{- range list "plan" "config" "values" -}}
  {{- $text := get $nightly . -}}
  {{- if or (hasKey (fromYaml $text) "Error") (and (eq . "plan") (not $text)) }}
nightly.{{ . }} must be the text of a YAML file, got {{ $text | trunc 40 | quote }}: use --set-file nightly.{{ . }}=FILE
  {{- end -}}
{{- end -}}
{{- if gt (len .Release.Name) 52 }}
the name of the release is the name of a CronJob, which has at most 52 characters: choose a shorter name
{{- end -}}
{{- $variables := list "JOB" "IOTBENCH_POD" "COLUMNS" -}}
{{- range $nightly.env }}{{ $variables = append $variables .name }}{{ end -}}
{{- range include "bench.repeated" $variables | fromJsonArray }}
nightly.env sets {{ . | quote }}, which is already set: remove it
{{- end -}}
{{- end }}

{{- define "bench.problems.image" -}}
{{- with .Values.image -}}
{{- if and .tag .digest }}
image.tag and image.digest are both set: remove image.tag, or image.digest
{{- end }}
{{- if regexMatch "[:@][^/]*$" .name }}
image.name must not contain a tag or digest, got {{ .name | quote }}: use image.tag or image.digest
{{- end }}
{{- end -}}
{{- end }}

{{- define "bench.problems.resources" -}}
{{- $values := .Values -}}
{{- range $component := list "collector" "worker" -}}
  {{- $resources := (get $values $component).resources | default dict -}}
  {{- $limits := $resources.limits | default dict -}}
  {{- range $name, $request := $resources.requests -}}
    {{- $limit := get $limits $name -}}
    {{- if not $limit }}{{ continue }}{{ end -}}
    {{- if gt (include "bench.quantity" $request | float64) (include "bench.quantity" $limit | float64) }}
{{ $component }}.resources: requests.{{ $name }} is {{ $request }}, above limits.{{ $name }}, {{ $limit }}: raise the limit, or remove it with null
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end }}

{{- define "bench.problems.pods" -}}
{{- $values := .Values -}}
{{- $own := "^((app|batch).kubernetes.io/|iot-bench/|(controller-uid|job-name)$)" -}}
{{- range $labels := list "commonLabels" "podLabels" -}}
  {{- range $key, $_ := get $values $labels -}}
    {{- if and (regexMatch $own $key) (ne $key "app.kubernetes.io/part-of") }}
{{ $labels }} contains {{ $key | quote }}, which selects the pods of a run: choose another name
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- if and $values.networkPolicy.egress (not $values.networkPolicy.enabled) }}
networkPolicy.egress has rules, and networkPolicy.enabled is false: set it to true
{{- end -}}

{{- range $values.initContainers -}}
  {{- if has .name (list "collector" "worker") }}
initContainers contains {{ .name | quote }}, the name of a pod's main container: choose another name
  {{- end -}}
{{- end -}}

{{- $variables := list -}}
{{- range $values.extraEnv }}{{ $variables = append $variables .name }}{{ end -}}
{{- range include "bench.repeated" (concat (list "NODE_NAME" "JOB_COMPLETION_INDEX") $variables) | fromJsonArray }}
extraEnv sets {{ . | quote }}, which is already set: remove it
{{- end -}}

{{- $volumes := list "spec" "secrets" "tmp" "records" -}}
{{- range $values.extraVolumes }}{{ $volumes = append $volumes .name }}{{ end -}}
{{- range include "bench.repeated" $volumes | fromJsonArray }}
extraVolumes contains {{ . | quote }}, which already exists: choose another name
{{- end -}}

{{- $paths := list "/etc/bench" "/run/bench" "/tmp" "/records" -}}
{{- range $values.extraVolumeMounts -}}
  {{- $paths = append $paths (clean .mountPath) -}}
  {{- if not (has .name $volumes) }}
extraVolumeMounts mounts {{ .name | quote }}, which is not in extraVolumes: add it there
  {{- end -}}
{{- end -}}
{{- range include "bench.repeated" $paths | fromJsonArray }}
extraVolumeMounts mounts two volumes on {{ . | quote }}: choose another path
{{- end -}}
{{- end }}

{{/* A list -> its repeated elements, as JSON. */}}
{{- define "bench.repeated" -}}
{{- $seen := list -}}
{{- $repeated := list -}}
{{- range . -}}
  {{- if has . $seen }}{{ $repeated = append $repeated . }}{{ end -}}
  {{- $seen = append $seen . -}}
{{- end -}}
{{- $repeated | uniq | toJson -}}
{{- end }}

{{/* A quantity as a plain number: 250m -> 0.25, 1Ki -> 1024, 1e3 -> 1000. */}}
{{- define "bench.quantity" -}}
{{- $units := dict "" 1 "n" 1e-9 "u" 1e-6 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18
    "Ki" 0x1p10 "Mi" 0x1p20 "Gi" 0x1p30 "Ti" 0x1p40 "Pi" 0x1p50 "Ei" 0x1p60 -}}
{{- $unit := regexFind "[numkMGTPE]i?$" (toString .) -}}
{{- mulf (toString . | trimSuffix $unit | float64) (get $units $unit) -}}
{{- end }}
