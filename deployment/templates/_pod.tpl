{{/* (list $ component arguments) -> a Job's pod template. Both pods have the same image, specification
     and Secrets. */}}
{{- define "bench.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $arguments := index . 2 -}}
{{- $values := $root.Values -}}
{{- $own := index $values $component -}}
{{- /* The collector reads rows if there are no workers, or to compute the truth of a prepared file. */ -}}
{{- $reads := or (eq $component "worker") (eq (int $values.workers) 0) $values.run.collectorReads -}}
{{- $claim := ternary $values.run.volumeClaim "" $reads -}}
metadata:
  {{- include "bench.podMetadata" (list $root $component) | nindent 2 }}
spec:
  restartPolicy: Never
  # Both stop at SIGTERM; an aborted run should end soon.
  terminationGracePeriodSeconds: 10
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $values.serviceAccount.name }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with $values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- include "bench.placement" (list $root $own) | nindent 2 }}
  {{- if and $values.topologySpreadConstraints (eq $component "worker") }}
  topologySpreadConstraints:
    {{- range $values.topologySpreadConstraints }}
    - labelSelector:
        matchLabels:
          {{- include "bench.selector" (list $root $component) | nindent 10 }}
      {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ $component }}
      image: {{ include "bench.image" $root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: [python, -m, simulator]
      args:
        - {{ $component }}
        - --spec=/etc/bench/spec.json
        - --secrets=/run/bench
        {{- toYaml $arguments | nindent 8 }}
      env:
        - name: NODE_NAME
          valueFrom:
            fieldRef:
              fieldPath: spec.nodeName
        {{- with $values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- if eq $component "collector" }}
      ports:
        - name: http
          containerPort: 5000
      {{- end }}
      resources:
        {{- toYaml $own.resources | nindent 8 }}
      {{- with $values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - name: spec
          mountPath: /etc/bench
          readOnly: true
        - name: secrets
          mountPath: /run/bench
          readOnly: true
        - name: tmp
          mountPath: /tmp
        {{- if $claim }}
        - name: records
          mountPath: /records
          readOnly: true
        {{- end }}
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: spec
      configMap:
        name: {{ include "bench.name" $root }}
    - name: secrets
      projected:
        # Readable by the group, which is fsGroup; the owner is root.
        defaultMode: 0440
        sources:
          - secret:
              name: {{ $values.run.credentials }}
              items:
                - key: run-token
                  path: token
                {{- range $values.run.options }}
                - key: option.{{ . }}
                  path: options/{{ . }}
                {{- end }}
          {{- range $values.run.secretOptions }}
          - secret:
              name: {{ .secret }}
              items:
                - key: {{ .key | quote }}
                  path: options/{{ .option }}
          {{- end }}
    - name: tmp
      emptyDir:
        # The collector also stores the journal of the run here.
        sizeLimit: {{ ternary "1200Mi" "64Mi" (eq $component "collector") }}
    {{- if $claim }}
    - name: records
      # Read-only here as well: otherwise the kubelet would change the group of its files to fsGroup.
      persistentVolumeClaim:
        claimName: {{ $claim }}
        readOnly: true
    {{- end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{/* (list $ component) -> the metadata of a pod. */}}
{{- define "bench.podMetadata" -}}
{{- $values := (first .).Values -}}
labels:
  {{- $labels := include "bench.labels" . | fromYaml }}
  {{- mergeOverwrite $labels ($values.podLabels | default dict) | toYaml | nindent 2 }}
{{- with mergeOverwrite (dict) $values.commonAnnotations $values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* (list $ values-of-the-component) -> where a pod runs, from where it gets its image, and as whom. */}}
{{- define "bench.placement" -}}
{{- $values := (first .).Values -}}
{{- $own := last . -}}
{{- $pullSecrets := list -}}
{{- range $values.image.pullSecrets }}{{ $pullSecrets = append $pullSecrets (dict "name" .) }}{{ end -}}
{{- $fields := merge
    (pick $values "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" "dnsConfig" "hostAliases")
    (pick $own "nodeSelector" "tolerations")
    (dict "affinity" (include "bench.affinity" (list (first .) ($own.affinity | default dict)) | fromYaml))
    (dict "imagePullSecrets" $pullSecrets "securityContext" $values.podSecurityContext) -}}
{{- range $name, $value := $fields }}{{ if not $value }}{{ $_ := unset $fields $name }}{{ end }}{{ end -}}
{{- with $fields }}{{ toYaml . }}{{ end -}}
{{- end }}

{{/* How long a Job may run without a command line that extends the time, and how long its pods and
     logs stay afterwards. */}}
{{- define "bench.ends" -}}
activeDeadlineSeconds: {{ int64 .Values.run.deadlineSeconds }}
ttlSecondsAfterFinished: {{ int64 .Values.run.ttlSeconds }}
{{- end }}
