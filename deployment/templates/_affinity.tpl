{{/* (list $ affinity) -> the user's affinity, plus the separation from the database. Node terms are
     alternatives, so each one gets the rule; pod terms must all hold, so one more is enough. */}}
{{- define "bench.affinity" -}}
{{- $database := (first .).Values.database -}}
{{- $affinity := deepCopy (last .) -}}
{{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
{{- with $database.nodeLabels -}}
  {{- $apart := list -}}
  {{- range $key, $value := . -}}
    {{- $apart = append $apart (dict "key" $key "operator" "NotIn" "values" (list $value)) -}}
  {{- end -}}
  {{- $nodes := get $affinity "nodeAffinity" | default dict -}}
  {{- $terms := list -}}
  {{- range (get $nodes $required | default dict).nodeSelectorTerms | default (list dict) -}}
    {{- $all := concat (.matchExpressions | default list) $apart -}}
    {{- $terms = append $terms (set . "matchExpressions" $all) -}}
  {{- end -}}
  {{- $nodes = set $nodes $required (dict "nodeSelectorTerms" $terms) -}}
  {{- $_ := set $affinity "nodeAffinity" $nodes -}}
{{- end -}}
{{- with $database.podLabels -}}
  {{- $beside := dict
      "topologyKey" "kubernetes.io/hostname"
      "namespaceSelector" dict
      "labelSelector" (dict "matchLabels" .) -}}
  {{- $pods := get $affinity "podAntiAffinity" | default dict -}}
  {{- $terms := append (get $pods $required | default list) $beside -}}
  {{- $_ := set $affinity "podAntiAffinity" (set $pods $required $terms) -}}
{{- end -}}
{{- with $affinity }}{{ toYaml . }}{{ end -}}
{{- end }}
