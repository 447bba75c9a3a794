{{/* (list $ affinity) -> the user's affinity with the separation from the database put in. Terms
     for nodes are alternatives, so each gets it; terms for pods all hold, so one more will do. */}}
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
